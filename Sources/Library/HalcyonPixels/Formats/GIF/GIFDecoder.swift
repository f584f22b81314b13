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
        let file = GIFFile(data)
        // Why it cannot be read does not matter: libvips reads it, or tells what is wrong.
        guard file.isReadable, (try? data.withUnsafeBytes { try file.checkIsUsual($0) }) != nil
        else { return nil }
        try file.checkFrameCount()
        return OpenedGIF(data, file)
    }
}

/// A GIF file of the usual kind.
struct OpenedGIF: OpenedImage {
    let header: ImageHeader
    private let data: Data
    private let file: GIFFile

    init(_ data: Data, _ file: GIFFile) {
        self.data = data
        self.file = file
        header = ImageHeader(
            format: .GIF, size: file.canvas, hasAlpha: file.hasAlpha, timing: file.timing)
    }

    func decode(frame: Int, _ size: DecodedSize) throws -> DecodedPixels? {
        if case .atLeast = size { try readFrame(frame) } else { nil }
    }

    func frameReader() throws -> any FrameReader {
        let owner = ByteOwner(data)
        return CanvasFrameReader(header, GIFCanvas(file, owner.bytes, owner: owner))
    }
}

extension ImageInformation {
    /// The first frame may enlarge the canvas, so that its descriptor is waited for.
    static func ofGIF(_ part: FilePart) -> ImageInformation? {
        let file = GIFFile(part.bytes, isWhole: part.isWhole)
        guard !file.frames.isEmpty else { return nil }
        var information = ImageInformation(.GIF, size: file.canvas)
        information.bitsPerSample = 8
        information.hasGainMap = false
        information.isComplete = file.isComplete
        // What has been seen of opacity stays true.
        if file.isReadable || file.hasAlpha { information.hasAlpha = file.hasAlpha }
        guard file.isReadable else { return information }
        information.frameCount = file.frames.count
        information.animation = file.timing
        return information
    }
}
