/// The operations that a not yet evaluated image is made of, so that an error during its evaluation can
/// be told from the errors of other images.
struct Lineage: Sendable, Equatable {
    private(set) var operations: [String] = []

    init(_ operations: [String] = []) {
        for operation in operations { insert(operation) }
    }

    mutating func insert(_ operation: String) {
        if !operations.contains(operation) { operations.append(operation) }
    }

    mutating func formUnion(_ other: Lineage) {
        for operation in other.operations { insert(operation) }
    }

    /// Whether a message with this domain comes from one of the operations or their file format.
    func owns(domain: String) -> Bool {
        if operations.contains(domain) { return true }
        guard let format = Self.format(in: domain) else { return false }
        return operations.contains { Self.format(in: $0) == format }
    }

    /// The file format that a message domain (`VipsJpeg`, `webp2vips`) or a nickname speaks of.
    static func format(in name: String) -> String? {
        let lowercased = name.lowercased()
        return formats.first { lowercased.contains($0) }
    }

    private static let formats = [
        "jpeg", "png", "webp", "gif", "heif", "tiff", "jxl", "svg", "pdf", "icc",
    ]
}
