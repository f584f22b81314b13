import DirectCodecs
import Foundation
import Vips

extension ImageDecoder {
    /// Reads GIF files with a decoder of our own, and leaves unusual ones to libvips.
    ///
    /// It sees damage while it decodes, so that a frame's pixels are decoded once, and faster than libvips
    /// does it.
    static let gif = ImageDecoder {
        $0 == .GIF && vips.canDecode(.GIF)
    } open: { data, _, _ in
        let structure = GIFStructure(data)
        guard structure.isComplete else { return nil }
        let file = data.withUnsafeBytes { bytes in
            // Why it cannot be read does not matter: libvips reads it, or tells what is wrong.
            try? GIFFile(
                bytes, width: structure.canvas.width, height: structure.canvas.height,
                frameCount: structure.frames.count)
        }
        guard let file else { return nil }
        try structure.checkFrameCount()
        return OpenedGIF(data, structure, file)
    }
}

/// A GIF file of the usual kind.
struct OpenedGIF: OpenedImage {
    let header: ImageHeader
    fileprivate let data: Data
    fileprivate let file: GIFFile

    init(_ data: Data, _ structure: GIFStructure, _ file: GIFFile) {
        self.data = data
        self.file = file
        header = ImageHeader(
            format: .GIF, size: structure.canvas, hasAlpha: structure.hasAlpha,
            timing: structure.timing)
    }

    func decode(frame: Int, _ size: DecodedSize) throws -> DecodedPixels? {
        if case .atLeast = size { try readFrame(frame) } else { nil }
    }

    func frameReader() throws -> any FrameReader { GIFFrameReader(self) }
}

/// Reads GIF frames with a decoder of our own.
struct GIFFrameReader: FrameReader {
    private(set) var position = 0

    private let opened: OpenedGIF
    private let canvas: GIFCanvas

    init(_ opened: OpenedGIF) {
        self.opened = opened
        canvas = opened.data.withUnsafeBytes { GIFCanvas(opened.file, $0) }
    }

    mutating func frame(_ index: Int) throws -> Bitmap {
        defer { position = index + 1 }
        return try ImageFormat.GIF.reporting {
            try opened.data.withUnsafeBytes { bytes in
                for _ in position..<index { try canvas.skip(bytes) }
                let channels = opened.header.hasAlpha ? 4 : 3
                return try Bitmap(size: opened.header.size, channels: channels) {
                    _, pixels throws(CodecRefusal) in
                    try canvas.next(bytes, into: pixels, channels: channels)
                }
            }
        }
    }
}

extension ImageInformation {
    /// The first frame may enlarge the canvas, so that its descriptor is waited for.
    static func ofGIF(_ file: FilePart) -> ImageInformation? {
        let structure = GIFStructure(file.bytes, isWhole: file.isWhole)
        guard !structure.frames.isEmpty else { return nil }
        var information = ImageInformation(.GIF, size: structure.canvas)
        information.bitsPerSample = 8
        information.hasGainMap = false
        information.isComplete = structure.isComplete
        // What has been seen of opacity stays true.
        if structure.isComplete || structure.hasAlpha { information.hasAlpha = structure.hasAlpha }
        guard structure.isComplete else { return information }
        information.frameCount = structure.frames.count
        information.animation = structure.timing
        return information
    }
}
