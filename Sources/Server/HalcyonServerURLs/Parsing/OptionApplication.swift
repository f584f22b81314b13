import HalcyonWork

/// Applies the options of a URL to what has been asked for so far, one after the other.
///
/// A later option of a name replaces an earlier one; an empty argument keeps what it would set.
struct OptionApplication {
    var options: ProcessingOptions
    let limits: PlanLimits
    /// Told what is odd without being an error.
    let note: (String) -> Void
    /// In presets, which are the operator's own, everything is allowed.
    var isTrusted = false

    /// - Parameter arguments: Not more than the option has.
    mutating func apply(_ name: OptionName, _ arguments: OptionArguments) throws(PlanError) {
        switch name {
        case .resize:
            try arguments.read(0, into: &options.resizing, .resizingType)
            try applySizes(arguments.dropFirst())
        case .size: try applySizes(arguments)
        case .resizingType: try arguments.read(0, into: &options.resizing, .resizingType)
        case .width: try arguments.read(0, into: &options.width, .pixels)
        case .height: try arguments.read(0, into: &options.height, .pixels)
        case .minWidth: try arguments.read(0, into: &options.minWidth, .pixels)
        case .minHeight: try arguments.read(0, into: &options.minHeight, .pixels)
        case .zoom:
            try arguments.read(0, into: &options.zoomX, .factor)
            if arguments.has(1) {
                try arguments.read(1, into: &options.zoomY, .factor)
            } else if arguments[0] != nil {
                options.zoomY = options.zoomX
            }
        case .dpr:
            let most = limits.dpr
            let form = ArgumentForm<Double>.number(
                "a number above 0 and up to \(Numbers.text(most))"
            ) { $0 > 0 && $0 <= most }
            try arguments.read(0, into: &options.dpr, form)
        case .enlarge: readFlag(arguments, into: &options.enlarge)

        case .extend: options.extend = try placed(arguments, current: options.extend)
        case .extendAspectRatio:
            options.extendAspectRatio = try placed(arguments, current: options.extendAspectRatio)
        case .gravity: options.gravity = try gravity(arguments, current: options.gravity)
        case .crop: try applyCrop(arguments)
        case .trim: try applyTrim(arguments)
        case .padding: try applyPadding(arguments)

        case .autoRotate: readFlag(arguments, into: &options.autoRotate)
        case .rotate: try arguments.read(0, into: &options.rotation, .quarterTurns)
        case .flip:
            options.flipHorizontally = options.flipHorizontally && arguments.has(0)
            options.flipVertically = options.flipVertically && arguments.has(1)
            readFlag(arguments, 0, into: &options.flipHorizontally)
            readFlag(arguments, 1, into: &options.flipVertically)
        case .background: try applyBackground(arguments)
        case .blur:
            let most = limits.blur
            let form = ArgumentForm<Double>.number(
                "a number from 0 to \(Numbers.text(most))"
            ) { $0 >= 0 && $0 <= most }
            try arguments.read(0, into: &options.blur, form)
        case .sharpen: try arguments.read(0, into: &options.sharpen, .atLeastZero)
        case .pixelate:
            try arguments.read(0, into: &options.pixelate, .pixels)
            // Squares of one pixel are the pixels themselves.
            if options.pixelate == 1 { options.pixelate = 0 }
        case .watermark: try applyWatermark(arguments)
        case .processors:
            options.processors = try arguments.value(0, .base64("a chain of processors"))

        case .stripMetadata: readFlag(arguments, into: &options.stripMetadata)
        case .keepCopyright: readFlag(arguments, into: &options.keepCopyright)
        case .stripColorProfile: readFlag(arguments, into: &options.stripColorProfile)
        case .preserveHDR: readFlag(arguments, into: &options.preserveHDR)
        case .enforceThumbnail: readFlag(arguments, into: &options.enforceThumbnail)

        case .quality: try arguments.readPositive(0, into: &options.quality, .percent)
        case .formatQuality: try applyFormatQuality(arguments)
        case .maxBytes: try arguments.readPositive(0, into: &options.maxBytes, .bytes)
        case .format: try applyFormat(arguments)
        case .skipProcessing:
            for index in 0..<arguments.count {
                guard let format = try arguments.value(index, .format) else { continue }
                options.skipProcessing.insert(format)
            }
        case .raw: try applyRaw(arguments)

        case .cacheBuster: options.cacheBuster = arguments[0]
        case .expires:
            try arguments.readPositive(
                0, into: &options.expires, .whole(0...Int.max, "Unix seconds"))
        case .filename:
            var isEncoded = false
            readFlag(arguments, 1, into: &isEncoded)
            let form: ArgumentForm<String> =
                isEncoded
                ? .base64("a name in UTF-8")
                : .init("a name, percent-encoded") { PercentEncoding.decode($0) }
            if let name = try arguments.value(0, form) { options.filename = name }
        case .returnAttachment: readFlag(arguments, into: &options.asAttachment)

        case .maxSourceResolution, .maxSourceFileSize, .maxAnimationFrames,
            .maxAnimationFrameResolution, .maxResultDimension:
            try applyLimit(name, arguments)
        case .preset: break  // The parser's, who knows them.
        }
    }

    /// Sets `target` to a flag, unless that is missing or empty; texts that are none mean no.
    func readFlag(_ arguments: OptionArguments, _ index: Int = 0, into target: inout Bool) {
        guard let text = arguments[index] else { return }
        let flag = Numbers.flag(text)
        if flag == nil {
            let shown = OptionArguments.shown(text)
            note("Option \(arguments.name): “\(shown)” counts as false.")
        }
        target = flag ?? false
    }

    /// Width, height, whether to enlarge and to extend: only what is given.
    private mutating func applySizes(_ arguments: OptionArguments) throws(PlanError) {
        try arguments.read(0, into: &options.width, .pixels)
        try arguments.read(1, into: &options.height, .pixels)
        readFlag(arguments, 2, into: &options.enlarge)
        if arguments.has(3) {
            options.extend = try placed(arguments.dropFirst(3), current: options.extend)
        }
    }
}

extension ArgumentForm where Value == ProcessingOptions.ResizingType {
    fileprivate static var resizingType: Self {
        ArgumentForm("one of fit fill fill-down force auto") { .init(rawValue: $0) }
    }
}

extension ArgumentForm where Value == Double {
    fileprivate static var factor: Self {
        .number("a number above 0 and up to 1000000") { $0 > 0 && $0 <= 1_000_000 }
    }
}

extension ArgumentForm where Value == Int {
    static var percent: Self { whole(0...100, "a whole number from 0 to 100") }
    static var bytes: Self { whole(0...Int.max, "a whole number of bytes") }

    fileprivate static var quarterTurns: Self {
        ArgumentForm("a multiple of 90") { text in
            guard let degrees = Int(text), degrees.isMultiple(of: 90) else { return nil }
            return (degrees % 360 + 360) % 360
        }
    }
}

extension ArgumentForm where Value == String {
    fileprivate static func base64(_ content: String) -> Self {
        ArgumentForm("base64url of \(content)") {
            Base64URL.decode($0).flatMap { String(validating: $0, as: UTF8.self) }
        }
    }
}
