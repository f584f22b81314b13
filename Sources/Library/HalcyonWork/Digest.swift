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
        bytes.withUnsafeBytes { bytes in
            result { buffer, length in
                EVP_Digest(bytes.baseAddress, bytes.count, buffer, &length, function, nil) == 1
            }
        }
    }

    /// The bytes of the HMAC of `bytes` (RFC 2104): only those who have `key` can make it.
    package func authenticationCode(_ bytes: some ContiguousBytes, key: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { bytes in
            result { buffer, length in
                HMAC(
                    function, key, Int32(key.count),
                    bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, buffer,
                    &length) != nil
            }
        }
    }

    private func result(
        _ make: (UnsafeMutablePointer<UInt8>?, inout UInt32) -> Bool
    ) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
            var length: UInt32 = 0
            guard make(buffer.baseAddress, &length) else {
                preconditionFailure("OpenSSL cannot compute a digest")
            }
            count = Int(length)
        }
    }

    private var function: OpaquePointer? {
        switch self {
        case .md5: Self.functions.md5
        case .sha256: Self.functions.sha256
        }
    }

    /// Looked up once: that takes longer than a short digest.
    private static let functions = Functions()

    private struct Functions: @unchecked Sendable {
        // Unchecked because of the pointers; what they point to never changes.

        let md5: OpaquePointer?
        let sha256: OpaquePointer?

        init() {
            // A context of its own: the system's may forbid MD5, which here only names files.
            let context = OSSL_LIB_CTX_new()
            OSSL_PROVIDER_load(context, "default")
            md5 = EVP_MD_fetch(context, "MD5", nil)
            sha256 = EVP_MD_fetch(context, "SHA256", nil)
        }
    }
}
