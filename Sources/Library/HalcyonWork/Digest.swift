import CGLib
import COpenSSL
package import Foundation

/// Digests of bytes and of text.
package enum Digest {
    case md5
    case sha256

    /// The digest of `bytes` as lower-case hexadecimal digits.
    package func hexadecimal(_ bytes: some ContiguousBytes) -> String {
        String(hexadecimal: self.bytes(bytes))
    }

    /// The digest of the UTF-8 bytes of `text` as lower-case hexadecimal digits.
    package func hexadecimal(_ text: String) -> String {
        var text = text
        return text.withUTF8 { hexadecimal($0) }
    }

    /// The digest of `bytes`.
    package func bytes(_ bytes: some ContiguousBytes) -> [UInt8] {
        if case .sha256 = self, let digest = Self.fastSHA256(bytes) { return digest }
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

    /// By OpenSSL, which uses the processor's instructions for it: five to ten times as fast as GLib, which counts
    /// where whole pictures are checked. `nil` where a system does not allow it.
    private static func fastSHA256(_ bytes: some ContiguousBytes) -> [UInt8]? {
        guard let kind = openSSLKind.pointer else { return nil }
        return bytes.withUnsafeBytes { bytes in
            var isMade = false
            let digest = [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
                var length: UInt32 = 0
                isMade =
                    EVP_Digest(
                        bytes.baseAddress, bytes.count, buffer.baseAddress, &length, kind, nil) == 1
                count = isMade ? Int(length) : 0
            }
            return isMade ? digest : nil
        }
    }

    /// Looked up once: that takes longer than a short digest.
    private static let openSSLKind = OpenSSLKind()

    private struct OpenSSLKind: @unchecked Sendable {
        // Unchecked because of the pointer; what it points to never changes.
        let pointer = EVP_MD_fetch(nil, "SHA256", nil)
    }

    private var type: GChecksumType {
        switch self {
        case .md5: G_CHECKSUM_MD5
        case .sha256: G_CHECKSUM_SHA256
        }
    }
}
