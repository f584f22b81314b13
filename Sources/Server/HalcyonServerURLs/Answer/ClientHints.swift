import HalcyonWork

/// The browser's hints about the displayed size, for sizes that a URL leaves open.
public struct ClientHints: Sendable, Hashable {
    /// The width in CSS pixels, before ``dpr``.
    public var width: Int?
    /// Device pixels per CSS pixel.
    public var dpr: Double?

    public init(width: Int? = nil, dpr: Double? = nil) {
        self.width = width
        self.dpr = dpr
    }

    /// The values that hints are rounded up to, to limit the variants of one URL.
    package struct Steps: Sendable, Hashable {
        package var widths = [320, 480, 640, 768, 960, 1280, 1536, 1920, 2560, 3840]
        package var dprs = [1, 1.5, 2, 3]

        package init() {}
    }

    /// The request header fields that the response depends on, for `Vary`.
    package static let fieldNames = ["Sec-CH-DPR", "DPR", "Sec-CH-Width", "Width"]
    /// The hints requested from browsers, for `Accept-CH`.
    package static let requestedNames = ["Sec-CH-DPR", "Sec-CH-Width"]

    /// - Parameter values: All values of a header field, in their order.
    package init(steps: Steps = Steps(), values: (_ fieldName: String) -> [String]) {
        dpr = Self.last(values("Sec-CH-DPR")) ?? Self.last(values("DPR"))
        dpr = dpr.flatMap { $0 <= 8 ? Self.rounded($0, to: steps.dprs) : nil }
        let physical = Self.last(values("Sec-CH-Width")) ?? Self.last(values("Width"))
        guard let physical, physical == physical.rounded(), physical <= 1_000_000,
            let step = Self.rounded(Int(physical), to: steps.widths)
        else { return }
        width = Int((Double(step) / (dpr ?? 1)).rounded(.up))
    }

    /// The last of several values; `nil` unless it is a decimal number above 0.
    private static func last(_ values: [String]) -> Double? {
        guard let text = values.last?.split(separator: ",").last?.trimmingSpaces,
            text.utf8.count <= 20,
            text.utf8.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") }),
            let number = Double(text), number > 0
        else { return nil }
        return number
    }

    /// The lowest step that is not below `value`, or the last one.
    private static func rounded<Value: Comparable>(_ value: Value, to steps: [Value]) -> Value? {
        steps.sorted().first { $0 >= value } ?? steps.max()
    }
}
