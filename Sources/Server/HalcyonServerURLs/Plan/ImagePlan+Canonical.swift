import HalcyonWork

extension ImagePlan {
    /// The plan as the path of an image URL: options in one fixed order, without those that have no
    /// effect, and then the source.
    ///
    /// Plans that mean the same picture have the same text, and a parser without presets and rewriting
    /// reads a plan from it that has this text again. What only concerns the answer is left out:
    /// expiry, file name and attachment.
    public var canonicalText: String {
        let source = PercentEncoding.encode(source.unescapedBytes, keeping: "/")
        return (options.canonicalSegments + ["plain", source]).map { "/" + $0 }.joined()
    }
}

extension ProcessingOptions {
    /// The options that are not as in `ProcessingOptions()`, each as a segment.
    package var canonicalSegments: [String] {
        var text = CanonicalText()
        text.writeSize(of: self)
        text.writeLayout(of: self)
        text.writePixels(of: self)
        text.writeFile(of: self)
        text.writeLimits(limits)
        return text.segments
    }
}

/// Collects the options that differ from what they are by default.
private struct CanonicalText {
    private(set) var segments: [String] = []
    private let plain = ProcessingOptions()

    private mutating func write(_ name: OptionName, _ arguments: [String]) {
        segments.append(([name.shortest] + arguments).joined(separator: ":"))
    }

    private mutating func write<Value: Equatable>(
        _ name: OptionName, _ value: Value, besides usual: Value, _ text: (Value) -> String
    ) {
        if value != usual { write(name, [text(value)]) }
    }

    private mutating func writeFlag(_ name: OptionName, _ flag: Bool, besides usual: Bool) {
        write(name, flag, besides: usual) { $0 ? "1" : "0" }
    }

    private mutating func writeNumber(_ name: OptionName, _ number: Double, besides usual: Double) {
        write(name, number, besides: usual, Numbers.text)
    }

    private mutating func writeNumber(_ name: OptionName, _ number: Int) {
        write(name, number, besides: 0, String.init)
    }

    mutating func writeSize(of options: ProcessingOptions) {
        write(.resizingType, options.resizing, besides: plain.resizing, \.rawValue)
        writeNumber(.width, options.width)
        writeNumber(.height, options.height)
        writeNumber(.minWidth, options.minWidth)
        writeNumber(.minHeight, options.minHeight)
        if options.zoomX != 1 || options.zoomY != 1 {
            write(.zoom, [options.zoomX, options.zoomY].map(Numbers.text))
        }
        writeNumber(.dpr, options.dpr, besides: 1)
        writeFlag(.enlarge, options.enlarge, besides: false)
    }

    mutating func writeLayout(of options: ProcessingOptions) {
        if let extend = options.extend { write(.extend, ["1"] + arguments(extend)) }
        if let extend = options.extendAspectRatio {
            write(.extendAspectRatio, ["1"] + arguments(extend))
        }
        if options.gravity != .centre { write(.gravity, arguments(options.gravity)) }
        if let crop = options.crop {
            let gravity = crop.gravity.flatMap { $0 == options.gravity ? nil : $0 }
            write(
                .crop,
                [crop.width, crop.height].map(Numbers.text) + (gravity.map(arguments) ?? []))
        }
        if let trim = options.trim {
            write(
                .trim,
                [
                    Numbers.text(trim.threshold), trim.colour?.hexadecimal ?? "",
                    trim.equalHorizontally ? "1" : "0", trim.equalVertically ? "1" : "0",
                ])
        }
        if options.padding != plain.padding {
            let sides = options.padding
            write(.padding, [sides.top, sides.right, sides.bottom, sides.left].map(String.init))
        }
    }

    mutating func writePixels(of options: ProcessingOptions) {
        writeFlag(.autoRotate, options.autoRotate, besides: plain.autoRotate)
        writeNumber(.rotate, options.rotation)
        if options.flipHorizontally || options.flipVertically {
            write(.flip, [options.flipHorizontally, options.flipVertically].map { $0 ? "1" : "0" })
        }
        write(.background, options.background, besides: nil) { $0?.hexadecimal ?? "" }
        writeNumber(.blur, options.blur, besides: 0)
        writeNumber(.sharpen, options.sharpen, besides: 0)
        writeNumber(.pixelate, options.pixelate)
        if let watermark = options.watermark {
            let position =
                switch watermark.position {
                case .anchor(let anchor): anchor.rawValue
                case .tiled: "re"
                }
            write(
                .watermark,
                [Numbers.text(watermark.opacity), position]
                    + [watermark.x, watermark.y, watermark.scale].map(Numbers.text))
        }
        write(.processors, options.processors, besides: nil) { Base64URL.encode(($0 ?? "").utf8) }
    }

    mutating func writeFile(of options: ProcessingOptions) {
        writeFlag(.stripMetadata, options.stripMetadata, besides: plain.stripMetadata)
        writeFlag(.keepCopyright, options.keepCopyright, besides: plain.keepCopyright)
        writeFlag(.stripColorProfile, options.stripColorProfile, besides: plain.stripColorProfile)
        writeFlag(.preserveHDR, options.preserveHDR, besides: false)
        writeFlag(.enforceThumbnail, options.enforceThumbnail, besides: false)
        writeNumber(.quality, options.quality ?? 0)
        let qualities = options.formatQuality.sorted { $0.key.rawValue < $1.key.rawValue }
        if !qualities.isEmpty {
            write(.formatQuality, qualities.flatMap { [$0.key.fileExtension, "\($0.value)"] })
        }
        writeNumber(.maxBytes, options.maxBytes ?? 0)
        write(.format, options.format, besides: nil) { $0?.fileExtension ?? "" }
        if !options.skipProcessing.isEmpty {
            write(.skipProcessing, options.skipProcessing.map(\.fileExtension).sorted())
        }
        writeFlag(.raw, options.raw, besides: false)
        write(.cacheBuster, options.cacheBuster, besides: nil) { $0 ?? "" }
    }

    mutating func writeLimits(_ limits: ProcessingOptions.LimitOverrides) {
        func megapixels(_ pixels: Int) -> String { Numbers.text(Double(pixels) / 1_000_000) }
        if let pixels = limits.sourcePixels { write(.maxSourceResolution, [megapixels(pixels)]) }
        if let bytes = limits.sourceBytes {
            write(.maxSourceFileSize, [bytes == .max ? "0" : "\(bytes)"])
        }
        if let frames = limits.frames { write(.maxAnimationFrames, ["\(frames)"]) }
        if let pixels = limits.framePixels {
            write(.maxAnimationFrameResolution, [pixels == .max ? "0" : megapixels(pixels)])
        }
        if let side = limits.resultDimension {
            write(.maxResultDimension, [side == .max ? "0" : "\(side)"])
        }
    }

    private func arguments(_ gravity: Gravity) -> [String] {
        if case .anchor(let anchor, 0, 0) = gravity { [anchor.rawValue] } else { gravity.arguments }
    }
}
