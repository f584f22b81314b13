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

// MARK: Size

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

// MARK: Layout

extension OptionApplication {
    private mutating func applyLayout(
        _ name: OptionName, _ arguments: OptionArguments
    ) throws(PlanError) {
        switch name {
        case .extend: options.extend = try placed(arguments, current: options.extend)
        case .extendAspectRatio:
            options.extendAspectRatio = try placed(
                arguments, current: options.extendAspectRatio)
        case .gravity: options.gravity = try gravity(arguments, current: options.gravity)
        case .crop: try applyCrop(arguments)
        case .trim: try applyTrim(arguments)
        default: try applyPadding(arguments)
        }
    }

    /// A flag, and where the picture lies.
    private func placed(
        _ arguments: OptionArguments, current: Gravity?
    ) throws(PlanError) -> Gravity? {
        var isOn = current != nil
        readFlag(arguments, into: &isOn)
        let place = try gravity(
            arguments.dropFirst(), current: current ?? .centre, allowsSmart: false)
        return isOn ? place : nil
    }

    /// A type and two numbers. What is missing is the centre, without offsets.
    private func gravity(
        _ arguments: OptionArguments, current: Gravity, allowsSmart: Bool = true
    ) throws(PlanError) -> Gravity {
        guard arguments.has(0) else { return .centre }
        let form: ArgumentForm<GravityType> = allowsSmart ? .gravity : .gravityWithoutSmart
        if let text = arguments[0], text == "obj" || text == "objw" {
            throw PlanError(
                .unsupportedOption,
                "Option \(arguments.name): gravity “\(text)” is not supported by Halcyon.")
        }
        let type = try arguments.value(0, form) ?? GravityType(current)
        var (x, y) = (0.0, 0.0)
        if GravityType(current) == type {
            switch current {
            case .anchor(_, let oldX, let oldY), .focus(let oldX, let oldY): (x, y) = (oldX, oldY)
            case .smart: break
            }
        }
        switch type {
        case .smart:
            guard arguments[1] == nil, arguments[2] == nil else {
                throw arguments.wrong("the gravity sm takes no offsets.")
            }
            return .smart
        case .focus:
            guard arguments[1] != nil, arguments[2] != nil else {
                throw arguments.wrong("the gravity fp takes two numbers from 0 to 1.")
            }
            try arguments.read(1, into: &x, .share)
            try arguments.read(2, into: &y, .share)
            return .focus(x: x, y: y)
        case .anchor(let anchor):
            if !arguments.has(1) { x = 0 }
            if !arguments.has(2) { y = 0 }
            try arguments.read(1, into: &x, .offset)
            try arguments.read(2, into: &y, .offset)
            return .anchor(anchor, x: x, y: y)
        }
    }

    private mutating func applyCrop(_ arguments: OptionArguments) throws(PlanError) {
        guard arguments[0] != nil || arguments[1] != nil else {
            throw arguments.wrong("a width or a height is needed.")
        }
        var crop = options.crop ?? .init(width: 0, height: 0)
        try arguments.read(0, into: &crop.width, .length)
        if !arguments.has(1) { crop.height = 0 }
        try arguments.read(1, into: &crop.height, .length)
        crop.gravity =
            arguments.has(2)
            ? try gravity(arguments.dropFirst(2), current: crop.gravity ?? .centre) : nil
        options.crop = crop.width == 0 && crop.height == 0 ? nil : crop
    }

    private mutating func applyTrim(_ arguments: OptionArguments) throws(PlanError) {
        let form = ArgumentForm<Double>.number("a number, 0 or more") { $0 >= 0 }
        guard let threshold = try arguments.value(0, form) else {
            options.trim = nil
            return
        }
        var trim = ProcessingOptions.Trim(threshold: threshold)
        trim.colour = try arguments.value(1, .colour)
        readFlag(arguments, 2, into: &trim.equalHorizontally)
        readFlag(arguments, 3, into: &trim.equalVertically)
        options.trim = trim
    }

    private mutating func applyPadding(_ arguments: OptionArguments) throws(PlanError) {
        var padding = options.padding
        try arguments.read(0, into: &padding.top, .pixels)
        if !arguments.has(1) { padding.right = padding.top }
        try arguments.read(1, into: &padding.right, .pixels)
        if !arguments.has(2) { padding.bottom = padding.top }
        try arguments.read(2, into: &padding.bottom, .pixels)
        if !arguments.has(3) { padding.left = padding.right }
        try arguments.read(3, into: &padding.left, .pixels)
        options.padding = padding
    }
}

/// What the first argument of a gravity says.
private enum GravityType: Equatable {
    case anchor(Gravity.Anchor)
    case focus
    case smart

    init(_ gravity: Gravity) {
        self =
            switch gravity {
            case .anchor(let anchor, _, _): .anchor(anchor)
            case .focus: .focus
            case .smart: .smart
            }
    }

    init?(_ text: String) {
        switch text {
        case "fp": self = .focus
        case "sm": self = .smart
        default:
            guard let anchor = Gravity.Anchor(rawValue: text) else { return nil }
            self = .anchor(anchor)
        }
    }
}

extension ArgumentForm where Value == GravityType {
    fileprivate static var gravity: Self {
        ArgumentForm("one of ce no so ea we noea nowe soea sowe fp sm") { GravityType($0) }
    }

    fileprivate static var gravityWithoutSmart: Self {
        ArgumentForm("one of ce no so ea we noea nowe soea sowe fp") {
            GravityType($0).flatMap { $0 == .smart ? nil : $0 }
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

    fileprivate static var share: Self {
        .number("a number from 0 to 1") { (0...1).contains($0) }
    }

    fileprivate static var length: Self {
        .number("a length in pixels or a share below 1") { $0 >= 0 }
    }
}
