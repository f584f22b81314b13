import Foundation

extension ImageInformation {
    /// The information for people, a fact or a few on each line.
    package var lines: [String] {
        var facts = ["\(format.rawValue)", "\(size.width)×\(size.height)"]
        if let bitsPerSample { facts.append(Self.count(bitsPerSample, "bit")) }
        if hasAlpha == true { facts.append("transparency") }
        if let jpegQuality { facts.append("quality \(jpegQuality)") }
        if hasGainMap == true { facts.append("gain map") }
        var lines = [facts.joined(separator: ", ")]
        if let frameCount, frameCount > 1 {
            var words = [Self.count(frameCount, "frame")]
            if let animation {
                words.append(Self.milliseconds(animation.totalDuration * 1000))
                words.append(
                    animation.loopCount == 0
                        ? "for ever" : Self.count(animation.loopCount, "time"))
            }
            lines.append(words.joined(separator: ", "))
        }
        if let colors { lines.append("colours: \(colors)") }
        if orientation > 1 { lines.append("stored turned (EXIF orientation \(orientation))") }
        if let text = camera?.text, !text.isEmpty { lines.append("camera: \(text)") }
        if let taken = camera?.taken { lines.append("taken: \(taken)") }
        if !isComplete { lines.append("cut short: this is what is there") }
        return lines
    }

    private var colors: String? {
        switch colorProfile {
        case nil: nil
        case .icc(let name): name ?? "by a profile without a name"
        case .coded(1, 13): "sRGB"
        case .coded(12, 13): "Display P3"
        case .coded(let primaries, let transfer): "primaries \(primaries), transfer \(transfer)"
        }
    }

    /// A count with its noun: `1 frame`, `2 frames`.
    private static func count(_ count: Int, _ noun: String) -> String {
        count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
    }

    /// Three digits at least below 100.
    private static func milliseconds(_ value: Double) -> String {
        String(format: value < 10 ? "%.2f ms" : value < 100 ? "%.1f ms" : "%.0f ms", value)
    }
}

extension ImageInformation.Camera {
    fileprivate var text: String {
        var words = [maker, model, lens].compactMap(\.self)
        // Many models begin with the name of their maker.
        if let maker, let model, model.hasPrefix(maker) { words.removeFirst() }
        if let exposureTime {
            let isFraction = exposureTime > 0 && exposureTime < 0.5
            words.append(
                isFraction ? "1/\(Int((1 / exposureTime).rounded())) s" : "\(exposureTime) s")
        }
        if let aperture { words.append("f/\((aperture * 10).rounded() / 10)") }
        if let sensitivity { words.append("ISO \(sensitivity)") }
        if let focalLength { words.append("\((focalLength * 10).rounded() / 10) mm") }
        return words.joined(separator: ", ")
    }
}
