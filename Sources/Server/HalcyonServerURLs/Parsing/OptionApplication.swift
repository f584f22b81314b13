/// Applies the options of a URL to what has been asked for so far, one after the other.
///
/// A later option of the same name replaces an earlier one; an argument that is empty keeps what it
/// would set.
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
        case .resize, .size, .resizingType, .width, .height, .minWidth, .minHeight, .zoom, .dpr,
            .enlarge:
            try applySize(name, arguments)
        case .extend, .extendAspectRatio, .gravity, .crop, .trim, .padding:
            try applyLayout(name, arguments)
        case .autoRotate, .rotate, .flip, .background, .blur, .sharpen, .pixelate, .watermark,
            .processors:
            try applyPixels(name, arguments)
        case .stripMetadata, .keepCopyright, .stripColorProfile, .preserveHDR,
            .enforceThumbnail:
            try applyMetadata(name, arguments)
        case .quality, .formatQuality, .maxBytes, .format, .skipProcessing, .raw:
            try applyWriting(name, arguments)
        case .cacheBuster, .expires, .filename, .returnAttachment:
            try applyAnswer(name, arguments)
        case .maxSourceResolution, .maxSourceFileSize, .maxAnimationFrames,
            .maxAnimationFrameResolution, .maxResultDimension:
            try applyLimit(name, arguments)
        case .preset: break  // The parser's, who knows them.
        }
    }

    /// Sets `target` to a flag, unless the argument is missing or empty. Texts that are no flag mean
    /// no.
    func readFlag(_ arguments: OptionArguments, _ index: Int = 0, into target: inout Bool) {
        guard let text = arguments[index] else { return }
        let flag = Numbers.flag(text)
        if flag == nil {
            let shown = OptionArguments.shown(text)
            note("Option \(arguments.name): “\(shown)” counts as false.")
        }
        target = flag ?? false
    }
}

extension OptionApplication {
    private mutating func applySize(
        _ name: OptionName, _ arguments: OptionArguments
    ) throws(PlanError) {
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
        default: readFlag(arguments, into: &options.enlarge)
        }
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
