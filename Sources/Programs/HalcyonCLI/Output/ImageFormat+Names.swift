import Halcyon

extension ImageFormat {
    /// The format of files with this extension (without a dot, in any case).
    init?(fileExtension: String) {
        let name = fileExtension.lowercased()
        guard let format = Self.extensions.first(where: { $0.value.contains(name) })?.key else {
            return nil
        }
        self = format
    }

    /// The format if it can be written, else PNG.
    var orWritable: ImageFormat {
        Self.writable.contains(self) ? self : .PNG
    }

    /// Whether files of the format can hold all colours of an image without any loss.
    var isLossless: Bool { [.PNG, .WebP, .JPEGXL, .TIFF].contains(self) }

    /// Says what to do about a format that is not.
    var lossText: String {
        let others = Self.writable.filter(\.isLossless).map(\.fileExtension)
        return "--lossless: \(rawValue) loses something; these do not: "
            + others.joined(separator: ", ") + "."
    }

    /// Says what to do about a format without a quality.
    func qualityText(_ target: CompressionTarget) -> String {
        let option = if case .bytes = target { "--max-bytes" } else { "--target-ssim" }
        let others = Self.writable.filter(CompressionTarget.formats.contains).map(\.fileExtension)
        return "\(option): \(rawValue) has no quality to search for; these have one: "
            + others.joined(separator: ", ") + "."
    }

    var fileExtension: String {
        Self.extensions[self]?.first ?? "bin"
    }

    /// The name as given to `--format`: any extension, or the format's own name.
    init?(argument: String) {
        let name = argument.lowercased()
        let named = Self.allCases.first { $0 != .unknown && $0.rawValue.lowercased() == name }
        guard let format = named ?? ImageFormat(fileExtension: name) else { return nil }
        self = format
    }

    private static let extensions: [ImageFormat: [String]] = [
        .PNG: ["png", "apng"], .JPEG: ["jpg", "jpeg", "jpe", "jfif"], .GIF: ["gif"],
        .WebP: ["webp"], .AVIF: ["avif"], .HEIC: ["heic", "heif"], .JPEGXL: ["jxl"],
        .TIFF: ["tiff", "tif"], .SVG: ["svg", "svgz"], .PDF: ["pdf"], .BMP: ["bmp", "dib"],
        .ICO: ["ico", "cur"],
    ]
}
