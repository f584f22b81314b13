import DirectCodecs
import Foundation
import Vips

/// The one libvips loader of a format, and how it is called.
struct VipsLoader {
    let format: ImageFormat
    let nickname: String

    /// `nil` for formats that libvips does not read itself.
    init?(_ format: ImageFormat) {
        guard let name = format.vipsName else { return nil }
        self.format = format
        nickname = "\(name)load_buffer"
    }

    static func of(_ format: ImageFormat) throws(ImageCodingError) -> VipsLoader {
        guard let loader = VipsLoader(format) else {
            throw .unsupported(format, reason: "no decoder for it is installed")
        }
        return loader
    }

    struct Request {
        /// The first frame, counted from 0.
        var frame = 0
        /// Whether all frames are loaded, one below the other.
        var allFrames = false
        /// JPEG is decoded at one over this: 1, 2, 4 or 8.
        var shrink = 1
        /// WebP, SVG and PDF are decoded at this scale.
        var scale = 1.0
    }

    /// Opens `data`: reads the header, decodes nothing yet.
    ///
    /// Truncated or damaged files fail, here or when pixels are read. Warnings do not: codecs warn
    /// of much that does not change the picture.
    func open(_ data: Data, _ request: Request = Request()) throws(VipsError) -> VipsImage {
        guard format == .TIFF, let header = TIFFHeader(data) else {
            let image = try openAsStored(data, request)
            return try image.turned(as: storedOrientation(image))
        }
        let file = header.lab == nil ? data : header.withPlainSamples(data)
        return try openAsStored(file, request).meant(by: header).turned(as: header.orientation)
    }

    /// Opens `data` with samples and orientation as libvips has them.
    func openAsStored(_ data: Data, _ request: Request = Request()) throws(VipsError) -> VipsImage {
        var options: [String: VipsValue] = ["access": "sequential", "fail_on": "error"]
        switch format {
        case .JPEG:
            if request.shrink > 1 { options["shrink"] = .int(request.shrink) }
        case .GIF, .WebP:
            options["page"] = .int(request.allFrames ? 0 : request.frame)
            options["n"] = .int(request.allFrames ? -1 : 1)
            if format == .WebP, request.scale != 1 { options["scale"] = .double(request.scale) }
        case .SVG, .PDF:
            let scale = request.scale * (format == .SVG ? SVGIntrinsicSize.scale(of: data) : 1)
            if scale != 1 { options["scale"] = .double(scale) }
        case .PNG, .AVIF, .HEIC, .JPEGXL, .TIFF, .BMP, .ICO, .unknown:
            break
        }
        let image = try VipsImage.load(nickname, bytes: data, options)
        DecodingWatch.add(image)
        return image
    }

    /// The orientation in the EXIF data of a file, which libvips leaves to another library: `nil` where there is
    /// none.
    private func storedOrientation(_ image: VipsImage) -> Int? {
        guard [.JPEG, .PNG, .WebP].contains(format), let block = image.blob("exif-data") else {
            return nil
        }
        return block.withUnsafeBytes { EXIFBlock.orientation(in: $0) } ?? 1
    }
}

extension ImageFormat {
    /// The name with which libvips' operations for a format begin; `nil` where there are none.
    var vipsName: String? {
        switch self {
        case .JPEG: "jpeg"
        case .PNG: "png"
        case .GIF: "gif"
        case .WebP: "webp"
        case .AVIF, .HEIC: "heif"
        case .JPEGXL: "jxl"
        case .TIFF: "tiff"
        case .SVG: "svg"
        case .PDF: "pdf"
        case .BMP, .ICO, .unknown: nil
        }
    }
}

extension VipsImage {
    /// These pixels, to be turned as `orientation` says; without one, as they are.
    fileprivate func turned(as orientation: Int?) throws(VipsError) -> VipsImage {
        guard let orientation, orientation != int("orientation") ?? 1 else { return self }
        return try settingMetadata([("orientation", .int(orientation))])
    }
}

extension VipsError {
    /// The coding error for a failure to read a file of `format`: features unknown to libvips and
    /// its codecs are unsupported, everything else is damage.
    func codingError(_ format: ImageFormat) -> ImageCodingError {
        let words = plainWords
        let lowercased = words.lowercased()
        // libheif decodes another size than it tells.
        if lowercased.contains("bad image dimensions on decode") {
            return .unsupported(format, reason: "the way it is cropped or turned is not read")
        }
        // Drawings are read before librsvg sees them: what it cannot draw then is beyond limits of its own.
        if format == .SVG, lowercased.contains("rendering failed") {
            return .tooComplex(format, reason: Self.drawingRefused)
        }
        let isUnknown =
            Self.wordsForUnknown.contains { lowercased.contains($0) }
            && !Self.wordsForDamage.contains { lowercased.contains($0) }
        return isUnknown
            ? .unsupported(format, reason: words) : .corrupt(format, reason: words)
    }

    /// The message without the names of functions and modules in it.
    var plainWords: String { message.plainWords(orElse: "it cannot be read") }

    static let drawingRefused =
        "librsvg does not draw it; newer versions draw at most 48 levels of nested elements"

    private static let wordsForUnknown = [
        "unsupported", "not supported", "not implemented", "not configured", "sorry,",
        "encrypted",
    ]
    /// A byte that is no JPEG marker is "unsupported", too.
    private static let wordsForDamage = ["marker type"]
}
