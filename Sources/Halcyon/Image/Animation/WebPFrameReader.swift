import CWebP
import Foundation
import Vips

/// Reads WebP frames with libwebp's own animation decoder: libvips would decode the whole strip into
/// memory for the first of them.
struct WebPFrameReader: FrameReader {
    private(set) var position = 0

    private let header: ImageHeader
    private let decoder: WebPAnimation
    private let profile: Data?

    init(_ data: Data, header: ImageHeader) throws {
        self.header = header
        decoder = try WebPAnimation(data)
        guard decoder.size == header.size else {
            throw ImageCodingError.corrupt(.WebP, reason: "its headers tell different sizes")
        }
        profile = try Self.profile(in: data)
    }

    mutating func frame(_ index: Int) throws -> Bitmap {
        while position < index {
            _ = try decoder.next()
            position += 1
        }
        let pixels = try decoder.next()
        position += 1
        do {
            var image = try VipsImage.memory(
                pixels, count: header.size.pixelCount * 4, owner: decoder,
                width: header.size.width, height: header.size.height, bands: 4, format: .uchar,
                interpretation: .srgb)
            if let profile {
                image = try image.settingMetadata([("icc-profile-data", .blob(profile))])
            }
            // The decoder draws the next frame into the same memory, so this copies in any case.
            return try Bitmap(rendering: image.decodedToSRGB(alpha: header.hasAlpha))
        } catch let error as VipsError {
            throw ImageCodingError.corrupt(.WebP, reason: error.message)
        }
    }

    /// The colour profile, if the file's flags announce one.
    private static func profile(in data: Data) throws -> Data? {
        let flags = data.withUnsafeBytes { ByteReader($0).byte(20) } ?? 0
        guard flags & 0x20 != 0, let loader = VipsLoader(.WebP) else { return nil }
        do {
            return try loader.open(data).blob("icc-profile-data")
        } catch {
            throw ImageCodingError.corrupt(.WebP, reason: error.message)
        }
    }
}

/// libwebp's decoder of one animated file, at some frame.
///
/// `@unchecked Sendable`: the one reader that owns it is used by one thread at a time.
private final class WebPAnimation: @unchecked Sendable {
    let size: PixelSize
    private let bytes: ByteOwner
    private let decoder: OpaquePointer

    init(_ data: Data) throws(ImageCodingError) {
        let bytes = ByteOwner(data)
        var file = WebPData(
            bytes: UnsafePointer(bytes.pointer.assumingMemoryBound(to: UInt8.self)),
            size: bytes.count)
        guard let decoder = WebPAnimDecoderNew(&file, nil) else {
            throw .corrupt(.WebP, reason: "its frames cannot be told apart")
        }
        var info = WebPAnimInfo()
        guard WebPAnimDecoderGetInfo(decoder, &info) != 0 else {
            WebPAnimDecoderDelete(decoder)
            throw .corrupt(.WebP, reason: "it has no canvas")
        }
        self.bytes = bytes
        self.decoder = decoder
        size = PixelSize(width: Int(info.canvas_width), height: Int(info.canvas_height))
    }

    /// The canvas after the next frame is drawn: RGBA with straight alpha, valid until the next call.
    func next() throws(ImageCodingError) -> UnsafeRawPointer {
        var pixels: UnsafeMutablePointer<UInt8>?
        var timestamp: Int32 = 0
        guard WebPAnimDecoderGetNext(decoder, &pixels, &timestamp) != 0, let pixels else {
            throw .corrupt(.WebP, reason: "the pixels of a frame are damaged")
        }
        return UnsafeRawPointer(pixels)
    }

    deinit {
        WebPAnimDecoderDelete(decoder)
    }
}
