import Foundation

/// Identifiers are part of cache keys: what they print must never depend on platform or locale.
enum ProcessorIdentifier {
    /// The identifier of the processor `name`.
    static func make(_ name: String, _ parameters: String? = nil, suffix: String? = nil) -> String {
        let call = "com.onevcat.Kingfisher." + name + (parameters.map { "(\($0))" } ?? "")
        return suffix.map { "\(call)_\($0)" } ?? call
    }
}

extension CGSize {
    var identifier: String { "(\(width), \(height))" }
}

extension CGPoint {
    var identifier: String { "(\(x), \(y))" }
}

extension Color {
    var identifier: String {
        let components = [red, green, blue, alpha].map { String(format: "%.2f", Double($0)) }
        return "(\(components.joined(separator: ",")))"
    }
}

extension RectCorner {
    /// Empty for all corners, as most cached images have it.
    var identifier: String { self == .all ? "" : "_corner(\(rawValue))" }
}
