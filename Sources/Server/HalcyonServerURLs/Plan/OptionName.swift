/// The options of image URLs, by their long names.
public enum OptionName: String, Sendable, Hashable, CaseIterable {
    case resize
    case size
    case resizingType = "resizing_type"
    case width
    case height
    case minWidth = "min-width"
    case minHeight = "min-height"
    case zoom
    case dpr
    case enlarge
    case extend
    case extendAspectRatio = "extend_aspect_ratio"
    case gravity
    case crop
    case trim
    case padding
    case autoRotate = "auto_rotate"
    case rotate
    case flip
    case background
    case blur
    case sharpen
    case pixelate
    case watermark
    case stripMetadata = "strip_metadata"
    case keepCopyright = "keep_copyright"
    case stripColorProfile = "strip_color_profile"
    case preserveHDR = "preserve_hdr"
    case enforceThumbnail = "enforce_thumbnail"
    case quality
    case formatQuality = "format_quality"
    case maxBytes = "max_bytes"
    case format
    case skipProcessing = "skip_processing"
    case raw
    case cacheBuster = "cachebuster"
    case expires
    case filename
    case returnAttachment = "return_attachment"
    case preset
    case maxSourceResolution = "max_src_resolution"
    case maxSourceFileSize = "max_src_file_size"
    case maxAnimationFrames = "max_animation_frames"
    case maxAnimationFrameResolution = "max_animation_frame_resolution"
    case maxResultDimension = "max_result_dimension"
    /// Halcyon's own option: a chain of processors in text form.
    case processors = "halcyon"

    /// The option with this long or short name.
    public init?(urlName: String) {
        guard let name = Self.byURLName[urlName] else { return nil }
        self = name
    }

    /// The short names, the usual one first.
    public var shortNames: [String] { Self.short[self] ?? [] }

    private static let short: [OptionName: [String]] = [
        .resize: ["rs"], .size: ["s"], .resizingType: ["rt"], .width: ["w"], .height: ["h"],
        .minWidth: ["mw"], .minHeight: ["mh"], .zoom: ["z"], .enlarge: ["el"], .extend: ["ex"],
        .extendAspectRatio: ["exar", "extend_ar"], .gravity: ["g"], .crop: ["c"], .trim: ["t"],
        .padding: ["pd"], .autoRotate: ["ar"], .rotate: ["rot"], .flip: ["fl"], .background: ["bg"],
        .blur: ["bl"], .sharpen: ["sh"], .pixelate: ["pix"], .watermark: ["wm"],
        .stripMetadata: ["sm"], .keepCopyright: ["kcr"], .stripColorProfile: ["scp"],
        .preserveHDR: ["ph"], .enforceThumbnail: ["eth"], .quality: ["q"], .formatQuality: ["fq"],
        .maxBytes: ["mb"], .format: ["f", "ext"], .skipProcessing: ["skp"], .cacheBuster: ["cb"],
        .expires: ["exp"], .filename: ["fn"], .returnAttachment: ["att"], .preset: ["pr"],
        .maxSourceResolution: ["msr"], .maxSourceFileSize: ["msfs"], .maxAnimationFrames: ["maf"],
        .maxAnimationFrameResolution: ["mafr"], .maxResultDimension: ["mrd"], .processors: ["hx"],
    ]

    /// The name written by ``ImagePlan/canonicalText``.
    var shortest: String { shortNames.first ?? rawValue }

    /// The maximum number of arguments; `nil`: unlimited.
    var maximumArguments: Int? {
        switch self {
        case .formatQuality, .skipProcessing, .preset: nil
        case .resize: 8
        case .size: 7
        case .crop, .watermark: 5
        case .extend, .extendAspectRatio, .trim, .padding: 4
        case .gravity, .background: 3
        case .zoom, .flip, .filename: 2
        default: 1
        }
    }

    private static let byURLName = Dictionary(
        uniqueKeysWithValues: allCases.flatMap { name in
            ([name.rawValue] + name.shortNames).map { ($0, name) }
        })

    /// Options of the commercial version of the program whose URL format this is: they are
    /// recognised for a precise error.
    static let unsupported: Set<String> = [
        "resizing_algorithm", "ra", "objects_position", "obj_pos", "op", "crop_aspect_ratio",
        "crop_ar", "car", "background_alpha", "bga", "adjust", "a", "brightness", "br",
        "contrast", "co", "saturation", "sa", "monochrome", "mc", "duotone", "dt",
        "unsharp_masking", "ush", "blur_areas", "ba", "progressive_blur", "pbl",
        "blur_detections", "bd", "draw_detections", "dd", "crop_objects", "colorize", "col",
        "gradient", "gr", "watermark_url", "wmu", "watermark_text", "wmt", "watermark_size",
        "wms", "watermark_rotate", "wm_rot", "wmr", "watermark_shadow", "wmsh", "style", "st",
        "dpi", "color_profile", "cp", "icc", "autoquality", "aq", "jpeg_options", "jpgo",
        "png_options", "pngo", "webp_options", "webpo", "avif_options", "avifo", "page", "pg",
        "pages", "pgs", "disable_animation", "da", "video_thumbnail_second", "vts",
        "video_thumbnail_keyframes", "vtk", "video_thumbnail_tile", "vtt",
        "video_thumbnail_animation", "vta", "fallback_image_url", "fiu", "bypass_cache", "bc",
        "cache_tags", "ct", "hashsum", "hs",
    ]
}
