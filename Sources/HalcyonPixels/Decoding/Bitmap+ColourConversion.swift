import DirectCodecs
import Foundation
import Vips

/// The ICC profile of a file whose colours are not those of sRGB.
struct ForeignProfile: Sendable {
    let data: Data
    private let shaper: ICCProfile.Shaper?

    /// `nil` when colours are the same with and without the profile: because there is none, because it is
    /// sRGB, or because it is none for so many channels and so not looked at.
    init?(_ profile: [UInt8]?, channels: Int) {
        guard let profile else { return nil }
        data = Data(profile)
        guard let parsed = ICCProfile(data), parsed.channelCount == channels, !parsed.isSRGB else {
            return nil
        }
        shaper = parsed.shaper
    }

    /// Whether conversion takes little time beside decoding, also of all pixels of a large picture. Profiles
    /// with tables go through libvips.
    var isQuick: Bool { shaper != nil }

    /// The conversion of samples of 8 or 16 bits; `nil` for profiles with tables.
    func conversion(_ depth: Bitmap.Depth) -> ColourConversion? {
        shaper.map { shaper in
            ColourConversion(
                primaries: shaper.primaries, greatest: depth == .eight ? 255 : 65535,
                light: shaper.light)
        }
    }
}

extension Bitmap {
    /// The pixels in sRGB. For what has just been decoded: they are changed where they are, if they can be,
    /// as nobody else has them.
    ///
    /// - Parameter profile: What says what the pixels mean.
    consuming func convertingNewPixels(by profile: ForeignProfile) throws -> Bitmap {
        if let conversion = profile.conversion(depth) {
            conversion.run(self, into: storage.pointer)
            return self
        }
        do {
            let image = try vipsImage()
                .settingMetadata([("icc-profile-data", .blob(profile.data))])
            return try Bitmap(rendering: image.decodedToSRGB(alpha: hasAlpha))
        } catch let error as VipsError {
            throw ImageCodingError.processing(
                reason: "its colours could not be converted: \(error.plainWords)")
        }
    }

    /// The same by a description of what the pixels mean.
    consuming func convertingNewPixels(from colours: ColourDescription) -> Bitmap {
        guard !colours.isSRGB else { return self }
        ColourConversion(colours, greatest: depth == .eight ? 255 : 65535)
            .run(self, into: storage.pointer)
        return self
    }
}

extension ColourConversion {
    fileprivate func run(_ bitmap: Bitmap, into target: UnsafeMutableRawPointer) {
        bitmap.withUnsafeBytes { bytes in
            switch bitmap.depth {
            case .eight:
                run(
                    bytes.assumingMemoryBound(to: UInt8.self),
                    into: target.assumingMemoryBound(to: UInt8.self), bitmap.channels)
            case .sixteen:
                run(
                    bytes.assumingMemoryBound(to: UInt16.self),
                    into: target.assumingMemoryBound(to: UInt16.self), bitmap.channels)
            }
        }
    }
}

extension ICCProfile {
    /// Whether colours are the same with and without the profile: because there is none, because it is
    /// sRGB, or because it is none for these channels and so not looked at.
    static func isNeutral(_ profile: [UInt8]?, channels: Int) -> Bool {
        ForeignProfile(profile, channels: channels) == nil
    }
}
