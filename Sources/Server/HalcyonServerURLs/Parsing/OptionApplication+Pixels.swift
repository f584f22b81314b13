// What is done with pixels and files.

extension OptionApplication {
    mutating func applyBackground(_ arguments: OptionArguments) throws(PlanError) {
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

    mutating func applyWatermark(_ arguments: OptionArguments) throws(PlanError) {
        var watermark = options.watermark ?? .init(opacity: 0)
        try arguments.read(0, into: &watermark.opacity, .share)
        if arguments[1] == "ch" {
            throw arguments.unsupported("position “ch”")
        }
        try arguments.read(
            1, into: &watermark.position,
            .init("one of ce no so ea we noea nowe soea sowe re") {
                $0 == "re" ? .tiled : Gravity.Anchor(rawValue: $0).map { .anchor($0) }
            }, orElse: .anchor(.centre))
        try arguments.read(2, into: &watermark.x, .offset, orElse: 0)
        try arguments.read(3, into: &watermark.y, .offset, orElse: 0)
        try arguments.read(4, into: &watermark.scale, .atLeastZero, orElse: 0)
        options.watermark = watermark.opacity == 0 ? nil : watermark
    }

    mutating func applyFormatQuality(_ arguments: OptionArguments) throws(PlanError) {
        guard arguments.count.isMultiple(of: 2) else {
            throw arguments.wrong("formats and qualities have to come in pairs.")
        }
        for index in stride(from: 0, to: arguments.count, by: 2) {
            guard let format = try arguments.value(index, .format) else { continue }
            try arguments.readPositive(index + 1, into: &options.formatQuality[format], .percent)
        }
    }

    mutating func applyRaw(_ arguments: OptionArguments) throws(PlanError) {
        readFlag(arguments, into: &options.raw)
        guard options.raw, !limits.allowsRaw, !isTrusted else { return }
        throw PlanError(
            .optionForbidden, "Option \(arguments.name): this server sends no raw sources.")
    }

    mutating func applyFormat(_ arguments: OptionArguments) throws(PlanError) {
        if arguments[0] == "best" {
            throw arguments.unsupported("format “best”")
        }
        if let format = try arguments.value(0, .format) { options.format = format }
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
