import DirectCodecs
import Foundation
import Vips

/// Reads WebP frames with libwebp's own animation decoder: libvips would decode the whole strip into
/// memory for the first of them.
struct WebPFrameReader: FrameReader {
    private(set) var position = 0

    private let header: ImageHeader
    private let animation: WebPAnimation
    /// A colour profile that has to be obeyed.
    private let profile: Data?

    init(_ data: Data, header: ImageHeader) throws {
        self.header = header
        let owner = ByteOwner(data)
        let bytes = UnsafeRawBufferPointer(start: owner.pointer, count: owner.count)
        do {
            animation = try WebPAnimation(bytes, owner: owner)
            profile = try Self.profile(in: bytes)
        } catch {
            throw ImageCodingError.corrupt(.WebP, reason: error.description)
        }
        guard animation.width == header.size.width, animation.height == header.size.height else {
            throw ImageCodingError.corrupt(.WebP, reason: "its headers tell different sizes")
        }
    }

    mutating func frame(_ index: Int) throws -> Bitmap {
        defer { position = index + 1 }
        do {
            for _ in position..<index { try animation.skip() }
            let channels = header.hasAlpha || profile != nil ? 4 : 3
            let bitmap = try Bitmap(size: header.size, channels: channels) {
                pixels throws(WebPRefusal) in
                try animation.next(into: pixels, channels: channels)
            }
            guard let profile else { return bitmap }
            let image = try bitmap.vipsImage()
                .settingMetadata([("icc-profile-data", .blob(profile))])
            return try Bitmap(rendering: image.decodedToSRGB(alpha: header.hasAlpha))
        } catch let error as WebPRefusal {
            throw ImageCodingError.corrupt(.WebP, reason: error.description)
        } catch let error as VipsError {
            throw ImageCodingError.corrupt(.WebP, reason: error.message)
        }
    }

    /// The colour profile of a file, unless it is that of sRGB.
    private static func profile(
        in bytes: UnsafeRawBufferPointer
    ) throws(WebPRefusal) -> Data? {
        guard let profile = try WebPFile(bytes).profile else { return nil }
        let data = Data(profile)
        return ICCProfile(data)?.isSRGB == true ? nil : data
    }
}
