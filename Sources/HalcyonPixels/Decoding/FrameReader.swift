import Foundation

/// Decodes the frames of one animated file from the first to the last, each once.
///
/// A frame builds on those before it. A reader keeps what the next one needs, so that a whole run costs
/// one decode per frame; it never goes back. Used by one thread at a time.
protocol FrameReader: Sendable {
    /// The least index that can still be read.
    var position: Int { get }

    /// Decodes on to frame `index`, not below `position` and not beyond the last, and returns it as
    /// `ImageDecoder.decode` would. A reader that has thrown cannot be used again.
    mutating func frame(_ index: Int) throws -> Bitmap
}

/// A decoder that can read the frames of an animated file in order.
protocol AnimatedImageDecoder: ImageDecoder {
    /// A reader before the first frame; cheap until it is asked for one.
    func frameReader(_ data: Data, header: ImageHeader) throws -> any FrameReader
}

/// A frame reader that needs nothing but the file, and tells its header too.
protocol FileFrameReader: FrameReader {
    /// Parses a file; decodes no frame.
    init(_ data: Data) throws

    var header: ImageHeader { get }
}

/// A decoder that does everything with one kind of frame reader.
protocol FrameReadingDecoder: AnimatedImageDecoder {
    associatedtype Reader: FileFrameReader
}

extension FrameReadingDecoder {
    func header(of data: Data, format: ImageFormat) throws -> ImageHeader {
        try Reader(data).header
    }

    func decode(_ data: Data, header: ImageHeader, frame: Int, leastSize: PixelSize?) throws
        -> DecodedPixels
    {
        var reader = try Reader(data)
        return .bitmap(try reader.frame(frame))
    }

    func decodeAllFrames(_ data: Data, header: ImageHeader) throws -> [Bitmap] {
        var reader = try Reader(data)
        return try (0..<header.frameCount).map { try reader.frame($0) }
    }

    func frameReader(_ data: Data, header: ImageHeader) throws -> any FrameReader {
        try Reader(data)
    }
}
