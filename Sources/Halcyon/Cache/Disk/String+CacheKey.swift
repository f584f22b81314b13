import Foundation
import HalcyonWork

extension String: KingfisherCompatibleValue {}

extension KingfisherWrapper where Base == String {
    /// The SHA-256 digest of the UTF-8 bytes, as lower-case hexadecimal digits.
    var sha256: String { Digest.sha256.hexadecimal(base) }

    /// The file extension in a cache key: what follows the last dot before the first `@` (where the
    /// processor's identifier begins), if that is 1 to 20 letters and digits.
    var ext: String? {
        let path = base.prefix { $0 != "@" }
        guard let dot = path.lastIndex(of: ".") else { return nil }
        let ext = path[path.index(after: dot)...]
        guard (1...20).contains(ext.count), ext.allSatisfy({ $0.isLetter || $0.isNumber }) else {
            return nil
        }
        return String(ext)
    }
}

extension String {
    /// The key under which a processor's result for this key is cached.
    func computedKey(with processorIdentifier: String) -> String {
        processorIdentifier.isEmpty ? self : "\(self)@\(processorIdentifier)"
    }
}
