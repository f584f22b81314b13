import CStorage

/// A key and its hash, which is made once, before any lock is taken.
struct StoreKey: Hashable, Sendable {
    // First, so that it is compared first.
    let hash: UInt64
    let text: String

    init(_ text: String) {
        self.text = text
        hash = Self.hash(of: text)
    }

    /// The hash that a `Dictionary` takes, in place of one that `Hasher` would make anew of this one.
    func _rawHashValue(seed: Int) -> Int {
        Int(truncatingIfNeeded: hash) ^ seed
    }

    /// Drawn anew by each process: keys may come from strangers, and must not be made to collide.
    private static let seed = UInt64.random(in: 0 ... .max)

    /// XXH3 of the UTF-8 bytes: a third of the time that `Hasher` takes for a URL.
    private static func hash(of text: String) -> UInt64 {
        let seed = seed
        let hash = text.utf8.withContiguousStorageIfAvailable {
            XXH3_64bits_withSeed($0.baseAddress, $0.count, seed)
        }
        if let hash { return hash }
        var text = text
        return text.withUTF8 { XXH3_64bits_withSeed($0.baseAddress, $0.count, seed) }
    }
}
