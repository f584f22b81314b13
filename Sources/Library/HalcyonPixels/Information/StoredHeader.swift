package import Foundation
import Vips

/// The header of a file as libvips reads it, in libvips' terms. Pixels are not decoded.
package struct StoredHeader: Hashable, Sendable, Codable {
    /// The interpretation of the bands: `srgb`, `b-w`, `cmyk`, `rgb16`, `grey16` and others.
    package let colorSpace: String
    /// Samples of a pixel, opacity among them.
    package let bands: Int
    /// The type of a sample: `uchar`, `ushort`, `float` and others.
    package let sampleFormat: String
    package let hasAlpha: Bool
    /// The values of EXIF by the standard's names of their tags. Fractions are written as `28/10`.
    package let exif: [String: String]

    /// `nil` for files that libvips does not read.
    package init?(of data: Data) {
        let format = ImageSniffer.format(of: data)
        let told =
            DecodingIsolation.current.covers(format)
            ? Self.told(WorkerFile(data, format, .current)) : StoredHeader(reading: data, format)
        guard let told else { return nil }
        self = told
    }

    /// Reads it in this process.
    init?(reading data: Data, _ format: ImageFormat) {
        // Whoever asks has opened the file with its own decoder, and is told less without this.
        guard let loader = VipsLoader(format),
            let image = try? loader.openAsStored(data)
        else { return nil }
        colorSpace = image.interpretation.nickname
        bands = image.bands
        sampleFormat = image.format.nickname
        hasAlpha = (loader.format == .TIFF ? TIFFHeader(data)?.hasAlpha : nil) ?? image.hasAlpha
        var exif: [String: String] = [:]
        for field in image.fields where field.hasPrefix("exif-ifd") {
            // `exif-ifd0-Make`; the directory 1 is that of the thumbnail.
            let parts = field.split(separator: "-", maxSplits: 2)
            guard parts.count == 3, parts[1] != "ifd1", let text = image.string(field) else {
                continue
            }
            exif[String(parts[2])] = Self.value(in: text)
        }
        self.exif = exif
    }

    /// The value in a text in the manner of `28/10 (f/2.8, Rational, 1 components, 8 bytes)`, in which both
    /// the value and its form for readers may have brackets of their own.
    static func value(in text: String) -> String {
        let ending = /, [A-Za-z ]+, [0-9]+ components?, [0-9]+ bytes?\)$/
        guard let end = text.firstMatch(of: ending)?.range.lowerBound else { return text }
        let both = text[..<end]
        // A text stands there twice.
        let half = (both.count - 2) / 2
        if both.count >= 2, both.prefix(half) == both.suffix(half),
            both.dropFirst(half).hasPrefix(" (")
        {
            // Texts of EXIF end with a zero, which newer libvips makes a blank.
            return String(both.prefix(half)).replacing(/\s+$/, with: "")
        }
        return String(both.firstRange(of: " (").map { both[..<$0.lowerBound] } ?? both)
    }
}
