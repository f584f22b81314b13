import DirectCodecs
import Foundation
import Vips

/// The ICC profile of a file whose colours are not those of sRGB.
struct ForeignProfile: Sendable {
    let data: Data
    /// Whether the profile is for grey, also where pixels have three equal samples.
    let isGrey: Bool
    private let shaper: ICCProfile.Shaper?

    /// `nil` when the profile changes no colours: there is none, it is sRGB, or it does not fit the
    /// number of channels and is ignored.
    ///
    /// - Parameter isMonochrome: Whether a profile for grey fits as well, whatever the channels.
    init?(_ profile: [UInt8]?, channels: Int, isMonochrome: Bool = false) {
        guard let profile else { return nil }
        data = Data(profile)
        guard let parsed = ICCProfile(data), !parsed.isSRGB,
            parsed.channelCount == channels || isMonochrome && parsed.channelCount == 1
        else { return nil }
        isGrey = parsed.channelCount == 1
        shaper = parsed.shaper
    }

    /// Whether conversion takes little time beside decoding, also of all pixels of a large picture. Profiles
    /// with tables go through libvips.
    var isQuick: Bool { shaper != nil }

    /// Whether all pixels are converted, in so long a time that libvips does it better, which is fed row by row.
    func isLeftToVips(_ size: DecodedSize, of header: ImageHeader) -> Bool {
        if isQuick { return false }
        guard case .exactly(let reduction) = size else { return true }
        return reduction.size == header.size
    }

    /// Whether this is a grey profile with a table, which direct decoders leave to libvips.
    var isGreyTable: Bool { isGrey && !isQuick }

    /// The conversion of samples of 8 or 16 bits; `nil` for profiles with tables.
    func conversion(_ depth: Bitmap.Depth) -> ColourConversion? {
        let greatest = depth == .eight ? 255 : 65535
        return shaper.map { shaper in
            guard let primaries = shaper.primaries else {
                return ColourConversion(greyOf: greatest) { shaper.light(0, of: $0) }
            }
            return ColourConversion(
                primaries: primaries, greatest: greatest, light: shaper.light)
        }
    }
}

extension Bitmap {
    /// The pixels converted to sRGB. For newly decoded pixels without other owners: they are
    /// converted in place if possible.
    ///
    /// - Parameter profile: The profile that defines the pixels' colours; `nil` for those of sRGB.
    consuming func convertingNewPixels(by profile: ForeignProfile?) throws -> Bitmap {
        guard let profile else { return self }
        if let conversion = profile.conversion(depth) {
            conversion.run(self, into: storage.pointer)
            return self
        }
        do {
            let image = try vipsImage()
                .settingMetadata([("icc-profile-data", .blob(profile.data))])
            return try Bitmap(
                rendering: (profile.isGrey ? image.withOneColour() : image)
                    .decodedToSRGB(alpha: hasAlpha))
        } catch let error as VipsError {
            throw ImageCodingError.processing(
                reason: "its colours could not be converted: \(error.plainWords)")
        }
    }

    /// The pixels converted to sRGB from coded colours.
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
