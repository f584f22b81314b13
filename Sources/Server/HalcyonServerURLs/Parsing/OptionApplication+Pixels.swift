import HalcyonWork

// What is done with pixels, metadata and files, and what the answer says.

extension OptionApplication {
    mutating func applyPixels(
        _ name: OptionName, _ arguments: OptionArguments
    ) throws(PlanError) {
        switch name {
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
        case .sharpen:
            try arguments.read(
                0, into: &options.sharpen, .number("a number, 0 or more") { $0 >= 0 })
        case .pixelate:
            try arguments.read(0, into: &options.pixelate, .pixels)
            // Squares of one pixel are the pixels themselves.
            if options.pixelate == 1 { options.pixelate = 0 }
        case .watermark: try applyWatermark(arguments)
        default:
            options.processors = try arguments.value(
                0,
                .init("base64url of a chain of processors") {
                    Base64URL.decode($0).flatMap { String(validating: $0, as: UTF8.self) }
                })
        }
    }

    private mutating func applyBackground(_ arguments: OptionArguments) throws(PlanError) {
        switch arguments.count {
        case 1: options.background = try arguments.value(0, .colour)
        case 3:
            let old = options.background
            var samples = [Int(old?.red ?? 0), Int(old?.green ?? 0), Int(old?.blue ?? 0)]
            for index in 0..<3 {
                try arguments.read(
                    index, into: &samples[index], .whole(0...255, "a whole number from 0 to 255"))
            }
            options.background = RGBColor(
                red: UInt8(samples[0]), green: UInt8(samples[1]), blue: UInt8(samples[2]))
        default: throw arguments.wrong("a colour is R:G:B or hexadecimal digits.")
        }
    }

    private mutating func applyWatermark(_ arguments: OptionArguments) throws(PlanError) {
        var watermark = options.watermark ?? .init(opacity: 0)
        try arguments.read(
            0, into: &watermark.opacity,
            .number("a number from 0 to 1") {
                (0...1).contains($0)
            })
        if arguments[1] == "ch" {
            throw PlanError(
                .unsupportedOption,
                "Option \(arguments.name): position “ch” is not supported by Halcyon.")
        }
        if !arguments.has(1) { watermark.position = .anchor(.centre) }
        try arguments.read(
            1, into: &watermark.position,
            .init("one of ce no so ea we noea nowe soea sowe re") {
                $0 == "re" ? .tiled : Gravity.Anchor(rawValue: $0).map { .anchor($0) }
            })
        if !arguments.has(2) { watermark.x = 0 }
        try arguments.read(2, into: &watermark.x, .offset)
        if !arguments.has(3) { watermark.y = 0 }
        try arguments.read(3, into: &watermark.y, .offset)
        if !arguments.has(4) { watermark.scale = 0 }
        try arguments.read(4, into: &watermark.scale, .number("a number, 0 or more") { $0 >= 0 })
        options.watermark = watermark.opacity == 0 ? nil : watermark
    }

    mutating func applyMetadata(
        _ name: OptionName, _ arguments: OptionArguments
    ) throws(PlanError) {
        switch name {
        case .stripMetadata: readFlag(arguments, into: &options.stripMetadata)
        case .keepCopyright: readFlag(arguments, into: &options.keepCopyright)
        case .stripColorProfile: readFlag(arguments, into: &options.stripColorProfile)
        case .preserveHDR: readFlag(arguments, into: &options.preserveHDR)
        default: readFlag(arguments, into: &options.enforceThumbnail)
        }
    }

    mutating func applyWriting(
        _ name: OptionName, _ arguments: OptionArguments
    ) throws(PlanError) {
        switch name {
        case .quality:
            if let quality = try arguments.value(0, .percent) {
                options.quality = quality == 0 ? nil : quality
            }
        case .formatQuality:
            guard arguments.count.isMultiple(of: 2) else {
                throw arguments.wrong("formats and qualities have to come in pairs.")
            }
            for index in stride(from: 0, to: arguments.count, by: 2) {
                guard let format = try arguments.value(index, .format) else { continue }
                guard let quality = try arguments.value(index + 1, .percent) else { continue }
                options.formatQuality[format] = quality == 0 ? nil : quality
            }
        case .maxBytes:
            if let bytes = try arguments.value(0, .bytes) {
                options.maxBytes = bytes == 0 ? nil : bytes
            }
        case .format: try applyFormat(arguments)
        case .skipProcessing:
            for index in 0..<arguments.count {
                if let format = try arguments.value(index, .format) {
                    options.skipProcessing.insert(format)
                }
            }
        default:
            readFlag(arguments, into: &options.raw)
            if options.raw, !limits.allowsRaw, !isTrusted {
                throw PlanError(
                    .optionForbidden, "Option \(arguments.name): this server sends no raw sources.")
            }
        }
    }

    private mutating func applyFormat(_ arguments: OptionArguments) throws(PlanError) {
        if arguments[0] == "best" {
            throw PlanError(
                .unsupportedOption,
                "Option \(arguments.name): format “best” is not supported by Halcyon.")
        }
        if let format = try arguments.value(0, .format) { options.format = format }
    }

    mutating func applyAnswer(
        _ name: OptionName, _ arguments: OptionArguments
    ) throws(PlanError) {
        switch name {
        case .cacheBuster: options.cacheBuster = arguments[0]
        case .expires:
            if let time = try arguments.value(0, .whole(0...Int.max, "Unix seconds")) {
                options.expires = time == 0 ? nil : time
            }
        case .filename:
            var isEncoded = false
            readFlag(arguments, 1, into: &isEncoded)
            let form: ArgumentForm<String> =
                isEncoded
                ? .init("base64url of a name in UTF-8") {
                    Base64URL.decode($0).flatMap { String(validating: $0, as: UTF8.self) }
                } : .init("a name, percent-encoded") { PercentEncoding.decode($0) }
            if let name = try arguments.value(0, form) { options.filename = name }
        default: readFlag(arguments, into: &options.asAttachment)
        }
    }
}

extension ArgumentForm where Value == Int {
    fileprivate static var percent: Self { whole(0...100, "a whole number from 0 to 100") }
    static var bytes: Self { whole(0...Int.max, "a whole number of bytes") }

    fileprivate static var quarterTurns: Self {
        ArgumentForm("a multiple of 90") { text in
            guard let degrees = Int(text), degrees.isMultiple(of: 90) else { return nil }
            return (degrees % 360 + 360) % 360
        }
    }
}

extension ArgumentForm where Value == OutputFormat {
    static var format: Self {
        ArgumentForm("one of \(OutputFormat.allCases.map(\.fileExtension).joined(separator: " "))")
        {
            OutputFormat(urlName: $0)
        }
    }
}
