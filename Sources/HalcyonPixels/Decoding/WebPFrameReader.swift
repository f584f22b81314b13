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
    private let orientation: Int

    /// - Parameter orientation: How the stored frames are turned, 1…8 as in EXIF; `nil` for what the file
    ///   says.
    init(_ data: Data, header: ImageHeader, orientation: Int? = nil) throws {
        self.header = header
        let owner = ByteOwner(data)
        let bytes = UnsafeRawBufferPointer(start: owner.pointer, count: owner.count)
        do {
            animation = try WebPAnimation(bytes, owner: owner)
            let file = try WebPFile(bytes)
            profile = Self.profile(of: file)
            self.orientation = orientation ?? EXIFBlock.orientation(ofBlock: file.exif) ?? 1
        } catch {
            throw ImageCodingError.corrupt(.WebP, reason: error.description)
        }
        let stored = header.size.turned(by: self.orientation)
        guard animation.width == stored.width, animation.height == stored.height else {
            throw ImageCodingError.corrupt(.WebP, reason: "its headers tell different sizes")
        }
    }

    mutating func frame(_ index: Int) throws -> Bitmap {
        defer { position = index + 1 }
        do {
            for _ in position..<index { try animation.skip() }
            let channels = header.hasAlpha || profile != nil ? 4 : 3
            let bitmap = try Bitmap(
                size: header.size, channels: channels, orientation: orientation
            ) { _, pixels throws(WebPRefusal) in
                try animation.next(into: pixels, channels: channels)
            }
            guard let profile else { return bitmap }
            let image = try bitmap.vipsImage()
                .settingMetadata([("icc-profile-data", .blob(profile))])
            return try Bitmap(rendering: image.decodedToSRGB(alpha: header.hasAlpha))
        } catch let error as WebPRefusal {
            throw ImageCodingError.corrupt(.WebP, reason: error.description)
        } catch let error as VipsError {
            throw error.codingError(.WebP)
        }
    }

    /// The colour profile of a file, unless it is that of sRGB.
    private static func profile(of file: WebPFile) -> Data? {
        guard let profile = file.profile else { return nil }
        let data = Data(profile)
        return ICCProfile(data)?.isSRGB == true ? nil : data
    }
}
