import CCodecs
import DirectCodecs
import Foundation
import Vips

extension VipsImage {
    /// Whether samples have more than 8 bits.
    var isDeep: Bool {
        format == .ushort || format == .short || interpretation == .rgb16
            || interpretation == .grey16
    }

    /// The EXIF orientation that is still to be applied, 1…8.
    func orientation(in format: ImageFormat) -> Int {
        switch format {
        // The codec has turned the pixels already, by the format's own property.
        case .AVIF, .HEIC, .JPEGXL: 1
        default: int("orientation").flatMap { (1...8).contains($0) ? $0 : nil } ?? 1
        }
    }

    /// The image in sRGB with three bands of 8 or 16 bits, and an alpha band exactly if `alpha`.
    func decodedToSRGB(alpha: Bool) throws(VipsError) -> VipsImage {
        var image = try unpacked().withUnsignedSamples().filledDepth().withoutSurplusBands()
            .convertedToSRGB()
        if alpha { return try image.addingAlpha() }
        if image.hasAlpha { image = try image.alphaSplit().colour }
        return image
    }

    /// The image in sRGB like ``decodedToSRGB(alpha:)``, by the file's coded colours if it has
    /// some; these override a profile.
    func decodedToSRGB(alpha: Bool, from colours: ColourDescription?) throws -> VipsImage {
        guard let colours else { return try decodedToSRGB(alpha: alpha) }
        let image = try settingMetadata([], removing: ["icc-profile-data"])
            .decodedToSRGB(alpha: alpha)
        guard !colours.isSRGB else { return image }
        let converted = try Bitmap(rendering: image).convertingNewPixels(from: colours)
            .vipsImage()
        guard let orientation = int("orientation") else { return converted }
        return try converted.settingMetadata([("orientation", .int(orientation))])
    }

    /// With the ICC profile of Display P3, which a HEIF file may mean by a mere number. An embedded
    /// profile counts more.
    func withDisplayP3Profile() throws(VipsError) -> VipsImage {
        if hasProfile { return self }
        var operation = VipsOperation("profile_load")
        operation.set("name", "p3")
        return try settingMetadata([("icc-profile-data", .blob(operation.run().blob("profile")))])
    }

    /// Lab colours as numbers of their own, where libvips has packed them into four bytes.
    private func unpacked() throws(VipsError) -> VipsImage {
        isPackedLab ? try apply("LabQ2Lab") : self
    }

    /// Samples with a sign read as if they had none, as other readers of TIFF have it: files that say so
    /// were mostly written by programs that did not mean it.
    private func withUnsignedSamples() throws(VipsError) -> VipsImage {
        switch format {
        case .char: try apply("copy", ["format": "uchar"])
        case .short: try apply("copy", ["format": "ushort"])
        default: self
        }
    }

    /// Samples of 10 or 12 bits, which libvips shifts up to 16, spread over the whole range: their
    /// upper bits are repeated in the lower ones, so that white is 65535.
    fileprivate func filledDepth() throws(VipsError) -> VipsImage {
        guard format == .ushort, let depth = int("heif-bitdepth"), (9...15).contains(depth) else {
            return self
        }
        let low = try apply(
            "boolean_const", ["boolean": "rshift", "c": .doubles([Double(depth)])])
        return try apply("boolean", ["right": .image(low), "boolean": "or"])
    }

    /// Without the bands after colour and alpha that TIFF files may have.
    private func withoutSurplusBands() throws(VipsError) -> VipsImage {
        let most = interpretation == .cmyk ? 5 : 4
        return bands > most ? try apply("extract_band", ["band": 0, "n": .int(most)]) : self
    }
}

extension VipsImage {
    /// The number of averaged pixels per result pixel, along each side.
    private static let averagePixels = 4

    /// Whether `size` is so much smaller than `full` that averaging comes first.
    static func isReducedByArea(_ full: PixelSize, to size: PixelSize) -> Bool {
        let least = 6 * averagePixels
        return full.width / least >= size.width && full.height / least >= size.height
    }

    /// The image, RGBA of 8 or 16 bits, in a much smaller size: averaged row by row to four times
    /// that size, then resampled.
    ///
    /// libvips multiplies each pixel with its opacity as floating-point numbers in memory before anything
    /// else, which takes longer than decoding.
    func reducedByArea(to size: PixelSize) throws -> VipsImage {
        let isDeep = format == .ushort
        let (width, height) = (Self.averagePixels * size.width, Self.averagePixels * size.height)
        let reducer = AreaReducer(
            sourceWidth: self.width, sourceHeight: self.height, width: width, height: height,
            isDeep: isDeep)
        try handRows(to: reducer.push)
        return try VipsImage.memory(
            reducer.pixels, count: reducer.byteCount, owner: reducer, width: width, height: height,
            bands: 4, format: .float, interpretation: isDeep ? .rgb16 : .srgb
        ).resizedFromPremultiplied(
            to: size.width, height: size.height, as: isDeep ? .ushort : .uchar)
    }

    private func handRows(to take: (UnsafeRawPointer) -> Void) throws {
        try forEachRow { row in
            take(row)
            return !cdecoding_is_late()
        }
        if cdecoding_is_late() {
            throw ImageCodingError.processing(reason: "it takes too long")
        }
    }

    /// The image, RGB or RGBA of 8 or 16 bits, in a smaller size, with its colour profile; `nil` for another
    /// one. It is resampled row by row, in a tenth of the time that libvips takes.
    func reducedByRows(to size: PixelSize) throws -> VipsImage? {
        guard bands == 3 || bands == 4, format == .uchar || format == .ushort else { return nil }
        let source = try filledDepth()
        let depth: Bitmap.Depth = format == .ushort ? .sixteen : .eight
        let reduced = try Bitmap(size: size, channels: bands, depth: depth) { _, pixels in
            let reducer = PixelReducer(
                source: (width, height), width: size.width, height: size.height, channels: bands,
                depth: depth.rawValue, into: pixels)
            try source.handRows(to: reducer.push)
        }.vipsImage(interpretation)
        guard let profile = blob("icc-profile-data") else { return reduced }
        return try reduced.settingMetadata([("icc-profile-data", .blob(profile))])
    }
}
