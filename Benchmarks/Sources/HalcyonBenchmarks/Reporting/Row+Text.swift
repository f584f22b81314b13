import Foundation

extension Row {
    /// The row on one line, for people.
    var line: String {
        var line =
            "\(name): \(ours.text) against \(peer.text) \(unit.symbol) (\(peerName)): \(ratioText)"
        if let target { line += ", target ×\(Self.number(target))" }
        if let qualityClass, let quality = ours.quality, let peer = peer.quality {
            line += "; \(qualityClass.text(quality)) against \(qualityClass.text(peer))"
        }
        return line
    }

    var ratioText: String { ratio.map { "×\(Self.number($0))" } ?? "–" }

    /// A number with three significant digits.
    static func number(_ value: Double) -> String {
        let magnitude = abs(value)
        return fixed(value, digits: magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : 2)
    }

    static func fixed(_ value: Double, digits: Int) -> String {
        String(format: "%.\(digits)f", value)
    }
}

extension Figure {
    /// Median and range.
    var text: String {
        spread.minimum == spread.maximum
            ? Row.number(spread.median) : "\(Row.number(spread.median)) (\(range))"
    }

    var range: String { "\(Row.number(spread.minimum))…\(Row.number(spread.maximum))" }
}
