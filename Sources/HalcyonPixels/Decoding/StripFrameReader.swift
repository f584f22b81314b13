import Foundation
import Vips

/// Reads the frames of unusual GIF files off the strip of all frames, which libvips decodes as far as it is read.
///
/// Keeps a canvas and a few rows, not the strip.
struct StripFrameReader: FrameReader {
    private(set) var position = 0

    private let data: Data
    private let size: PixelSize
    private let structure: GIFStructure
    private let strip: VipsImage

    init(_ data: Data, header: ImageHeader) throws {
        self.data = data
        size = header.size
        structure = GIFStructure(data)
        guard let loader = VipsLoader(.GIF) else {
            throw ImageCodingError.unsupported(.GIF, reason: "no decoder for it is installed")
        }
        do {
            strip = try loader.open(data, VipsLoader.Request(allFrames: true))
                .decodedToSRGB(alpha: header.hasAlpha)
        } catch {
            throw error.codingError(.GIF)
        }
        guard strip.width == size.width, strip.height == size.height * header.frameCount,
            structure.frames.count >= header.frameCount
        else {
            throw ImageCodingError.corrupt(.GIF, reason: "frames are missing")
        }
    }

    mutating func frame(_ index: Int) throws -> Bitmap {
        for next in position...index where !structure.isIntact(frame: next, in: data) {
            throw ImageCodingError.corrupt(.GIF, reason: "the pixels of frame \(next) are damaged")
        }
        position = index + 1
        do {
            return try Bitmap(
                rendering: strip.cropped(
                    left: 0, top: index * size.height, width: size.width, height: size.height))
        } catch let error as VipsError {
            throw error.codingError(.GIF)
        }
    }
}

extension GIFStructure {
    /// Whether the compressed pixels of a frame are valid and enough.
    func isIntact(frame index: Int, in data: Data) -> Bool {
        let frame = frames[index]
        return data.withUnsafeBytes { bytes in
            GIFCodeStream(ByteReader(bytes), offset: frame.dataOffset)
                .yields(pixels: frame.width * frame.height)
        }
    }
}
