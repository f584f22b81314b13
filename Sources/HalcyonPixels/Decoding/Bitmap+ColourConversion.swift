import DirectCodecs
import Foundation
import Vips

extension Bitmap {
    /// The pixels in sRGB.
    ///
    /// - Parameter profile: The ICC profile that says what the pixels mean.
    func converted(by profile: Data) throws -> Bitmap {
        do {
            let image = try vipsImage().settingMetadata([("icc-profile-data", .blob(profile))])
            return try Bitmap(rendering: image.decodedToSRGB(alpha: hasAlpha))
        } catch let error as VipsError {
            throw ImageCodingError.processing(
                reason: "its colours could not be converted: \(error.plainWords)")
        }
    }

    /// The pixels in sRGB.
    ///
    /// - Parameter colours: What the pixels mean.
    func converted(from colours: ColourDescription) -> Bitmap {
        guard !colours.isSRGB else { return self }
        let result = PixelMemory.forPixels(count: byteCount)
        let conversion = ColourConversion(colours, greatest: depth == .eight ? 255 : 65535)
        withUnsafeBytes { bytes in
            switch depth {
            case .eight:
                conversion.run(
                    bytes.assumingMemoryBound(to: UInt8.self),
                    into: result.pointer.assumingMemoryBound(to: UInt8.self), channels)
            case .sixteen:
                conversion.run(
                    bytes.assumingMemoryBound(to: UInt16.self),
                    into: result.pointer.assumingMemoryBound(to: UInt16.self), channels)
            }
        }
        return Bitmap(size: size, channels: channels, depth: depth, storage: result)
    }
}

extension ICCProfile {
    /// Whether colours are the same with and without the profile: because there is none, because it is
    /// sRGB, or because it is none for these channels and so not looked at.
    static func isNeutral(_ profile: [UInt8]?, channels: Int) -> Bool {
        guard let profile, let profile = ICCProfile(Data(profile)) else { return true }
        return profile.channelCount != channels || profile.isSRGB
    }
}
