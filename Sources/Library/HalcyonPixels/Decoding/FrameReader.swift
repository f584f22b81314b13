import Foundation
import Synchronization

/// Decodes the frames of one animated file from the first to the last, each once.
///
/// A frame builds on those before it. A reader keeps what the next one needs, so that a whole run costs
/// one decode per frame; it never goes back. Used by one thread at a time.
protocol FrameReader: Sendable {
    /// The least index that can still be read.
    var position: Int { get }

    /// Decodes on to frame `index`, not below `position` and not beyond the last, and returns it in its
    /// full size. A reader that has thrown cannot be used again.
    mutating func frame(_ index: Int) throws -> Bitmap
}

/// A frame reader that needs nothing but the file, and tells its header too.
protocol FileFrameReader: FrameReader {
    /// Parses a file; decodes no frame.
    init(_ data: Data) throws

    var header: ImageHeader { get }

    /// Whether a smaller picture can be had for less, and as good as a full one that is resampled.
    var canReduce: Bool { get }

    /// Decodes a still picture, which has not been decoded yet, in a smaller size. Only if ``canReduce``.
    mutating func reduced(to size: PixelSize) throws -> Bitmap
}

/// A file that one kind of frame reader does everything with, stills too.
final class OpenedFrames<Reader: FileFrameReader>: OpenedImage {
    let header: ImageHeader
    /// Whether the frame of a still picture is reduced while it is decoded.
    let isReduced: Bool
    private let data: Data
    /// The reader that has parsed the file, for the first who needs one.
    private let first: Mutex<Reader?>

    init(_ data: Data) throws {
        self.data = data
        let reader = try Reader(data)
        header = reader.header
        isReduced = header.timing == nil && reader.canReduce
        first = Mutex(reader)
    }

    func decode(frame: Int, _ size: DecodedSize) throws -> DecodedPixels? {
        switch size {
        case .atLeast:
            var reader = try reader()
            return .bitmap(try reader.frame(frame))
        case .exactly(let reduction):
            guard isReduced, reduction.size != header.size else { return nil }
            var reader = try reader()
            return .bitmap(try reader.reduced(to: reduction.size))
        }
    }

    func frameReader() throws -> any FrameReader { try reader() }

    private func reader() throws -> Reader {
        let parsed = first.withLock { reader in
            defer { reader = nil }
            return reader
        }
        return try parsed ?? Reader(data)
    }
}
