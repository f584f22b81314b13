import CGLib
package import Foundation

/// Digests of bytes and of text.
package enum Digest {
    case md5
    case sha256

    /// The digest of `bytes` as lower-case hexadecimal digits.
    package func hexadecimal(_ bytes: some ContiguousBytes) -> String {
        bytes.withUnsafeBytes { bytes in
            let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let digits = g_compute_checksum_for_data(type, start, gsize(bytes.count))
            defer { g_free(digits) }
            // Only an unknown type of digest has none.
            return digits.map { String(cString: $0) } ?? ""
        }
    }

    /// The digest of the UTF-8 bytes of `text` as lower-case hexadecimal digits.
    package func hexadecimal(_ text: String) -> String {
        var text = text
        return text.withUTF8 { hexadecimal($0) }
    }

    /// The digest of `bytes`.
    package func bytes(_ bytes: some ContiguousBytes) -> [UInt8] {
        let checksum = g_checksum_new(type)
        defer { g_checksum_free(checksum) }
        bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
            g_checksum_update(
                checksum, start.assumingMemoryBound(to: UInt8.self), gssize(bytes.count))
        }
        var length = gsize(g_checksum_type_get_length(type))
        var digest = [UInt8](repeating: 0, count: Int(length))
        g_checksum_get_digest(checksum, &digest, &length)
        return digest
    }

    /// The bytes of the HMAC of `bytes` (RFC 2104): only those who have `key` can make it.
    package func authenticationCode(_ bytes: some ContiguousBytes, key: [UInt8]) -> [UInt8] {
        let hmac = g_hmac_new(type, key, gsize(key.count))
        defer { g_hmac_unref(hmac) }
        bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
            g_hmac_update(hmac, start.assumingMemoryBound(to: UInt8.self), gssize(bytes.count))
        }
        var length = gsize(g_checksum_type_get_length(type))
        var code = [UInt8](repeating: 0, count: Int(length))
        g_hmac_get_digest(hmac, &code, &length)
        return code
    }

    private var type: GChecksumType {
        switch self {
        case .md5: G_CHECKSUM_MD5
        case .sha256: G_CHECKSUM_SHA256
        }
    }
}
