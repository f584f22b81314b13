import HalcyonWork

enum CacheFileName {
    /// The longest file name on Linux, in bytes.
    static let maximumLength = 255

    /// The name made of `base` and an extension.
    ///
    /// Characters not allowed in a file name are percent-encoded: `/`, NUL and a leading dot (which
    /// would hide the file). So that two keys never share a name, a percent sign is encoded where
    /// it would look like one of these. A name that is too long is replaced by its digest.
    static func name(base: String, extension ext: String?) -> String {
        let plain = ext.map { "\(base).\($0)" } ?? base
        let name = needsEncoding(plain) ? encoded(plain) : plain
        guard name.utf8.count > maximumLength else { return name }
        let digest = digest(of: plain)
        guard let ext, !needsEncoding(ext), digest.count + 1 + ext.utf8.count <= maximumLength
        else {
            return digest
        }
        return "\(digest).\(ext)"
    }

    /// The SHA-256 digest of a key's UTF-8 bytes, as lower-case hexadecimal digits.
    static func digest(of key: String) -> String { Digest.sha256.hexadecimal(key) }

    /// The file extension in a key: the text after the last dot before the first `@` (where the
    /// processor's identifier begins), if it is 1 to 20 letters and digits.
    static func fileExtension(of key: String) -> String? {
        let path = key.prefix { $0 != "@" }
        guard let dot = path.lastIndex(of: ".") else { return nil }
        let ext = path[path.index(after: dot)...]
        guard (1...20).contains(ext.count), ext.allSatisfy({ $0.isLetter || $0.isNumber }) else {
            return nil
        }
        return String(ext)
    }

    /// Whether a name from elsewhere is a valid name of a cache file: it leads to no other folder
    /// and is not hidden.
    static func isSound(_ name: String) -> Bool {
        let bytes = name.utf8
        return !bytes.isEmpty && bytes.count <= maximumLength && bytes.first != UInt8(ascii: ".")
            && !bytes.contains { $0 == 0 || $0 == UInt8(ascii: "/") }
    }

    /// Whether `name` is a SHA-256 digest as hexadecimal digits, with or without an extension.
    static func isDigest(_ name: String) -> Bool {
        let bytes = name.utf8
        let isHexadecimal = bytes.prefix(64).allSatisfy {
            $0.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
        return isHexadecimal && bytes.count >= 64
            && (bytes.count == 64 || bytes.dropFirst(64).first == UInt8(ascii: "."))
    }

    private static func needsEncoding(_ text: String) -> Bool {
        let bytes = text.utf8
        return bytes.first == nil || bytes.first == UInt8(ascii: ".")
            || bytes.contains { [0, UInt8(ascii: "/"), UInt8(ascii: "%")].contains($0) }
    }

    private static func encoded(_ text: String) -> String {
        // An encoded percent sign is always followed by more, so this is the name of no other key.
        if text.isEmpty { return "%25" }
        let bytes = Array(text.utf8)
        var name: [UInt8] = []
        name.reserveCapacity(bytes.count + 8)
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "/"): name += Array("%2F".utf8)
            case 0: name += Array("%00".utf8)
            case UInt8(ascii: ".") where index == 0: name += Array("%2E".utf8)
            case UInt8(ascii: "%") where escapes.contains(Array(bytes[(index + 1)...].prefix(2))):
                name += Array("%25".utf8)
            default: name.append(byte)
            }
        }
        return String(decoding: name, as: UTF8.self)
    }

    private static let escapes = Set(["2F", "00", "2E", "25"].map { Array($0.utf8) })
}
