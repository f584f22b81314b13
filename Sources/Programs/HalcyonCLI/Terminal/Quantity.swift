import Foundation

/// Numbers as people read them; the same in every locale.
enum Quantity {
    /// Bytes in the largest decimal unit that leaves a number of at least 1: `734 B`, `12.3 kB`.
    static func bytes(_ count: Int64) -> String {
        if count < 1000 { return "\(count) B" }
        var value = Double(count)
        var unit = 0
        // 999.95 and up would be shown as 1000.0.
        while value >= 999.95, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        return String(format: "%.1f %@", value, units[unit])
    }

    /// Milliseconds: three digits at least below 100.
    static func milliseconds(_ value: Double) -> String {
        String(format: value < 10 ? "%.2f ms" : value < 100 ? "%.1f ms" : "%.0f ms", value)
    }

    /// A count with its noun: `1 file`, `2 files`.
    static func count(_ count: Int, _ noun: String) -> String {
        count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
    }

    private static let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
}

extension Duration {
    var milliseconds: Double {
        Double(components.seconds) * 1000 + Double(components.attoseconds) / 1e15
    }
}
