extension OptionApplication {
    /// Lower limits are always allowed, higher ones only where the server says so. A limit that is
    /// the server's own is none of the URL's.
    mutating func applyLimit(_ name: OptionName, _ arguments: OptionArguments) throws(PlanError) {
        switch name {
        case .maxSourceResolution:
            let form = ArgumentForm<Double>.number("megapixels, above 0") { $0 > 0 }
            guard let megapixels = try arguments.value(0, form) else { return }
            let pixels = max(1, Self.pixels(megapixels))
            try set(\.sourcePixels, to: pixels, server: limits.sourcePixels, arguments)
        case .maxSourceFileSize:
            guard let bytes = try arguments.value(0, .bytes) else { return }
            try set(
                \.sourceBytes, to: bytes == 0 ? .max : bytes, server: limits.sourceBytes,
                arguments)
        case .maxAnimationFrames:
            let form = ArgumentForm<Int>.whole(1...Int.max, "a whole number, 1 or more")
            guard let frames = try arguments.value(0, form) else { return }
            try set(\.frames, to: frames, server: limits.frames, arguments)
        case .maxAnimationFrameResolution:
            let form = ArgumentForm<Double>.number("megapixels, 0 or more") { $0 >= 0 }
            guard let megapixels = try arguments.value(0, form) else { return }
            let pixels = megapixels == 0 ? .max : max(1, Self.pixels(megapixels))
            // Without such a limit all frames together are limited, which is less.
            try set(\.framePixels, to: pixels, server: limits.framePixels ?? 0, arguments)
        default:
            let form = ArgumentForm<Int>.whole(Int.min...Int.max, "a whole number of pixels")
            guard let side = try arguments.value(0, form) else { return }
            try set(
                \.resultDimension, to: side <= 0 ? .max : side,
                server: limits.resultDimension ?? .max, arguments)
        }
    }

    private mutating func set(
        _ limit: WritableKeyPath<ProcessingOptions.LimitOverrides, Int?>, to value: Int,
        server: Int, _ arguments: OptionArguments
    ) throws(PlanError) {
        guard value <= server || limits.allowsSecurityOptions || isTrusted else {
            throw PlanError(
                .optionForbidden,
                "Option \(arguments.name): URLs may not raise the limits of this server.")
        }
        options.limits[keyPath: limit] = value == server ? nil : value
    }

    private static func pixels(_ megapixels: Double) -> Int {
        Int(min((megapixels * 1_000_000).rounded(), 1e15))
    }
}
