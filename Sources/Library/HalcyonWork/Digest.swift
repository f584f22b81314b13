import COpenSSL
package import Foundation

package enum Digest {
    case md5
    case sha256

    /// The digest of `bytes` as lower-case hexadecimal digits.
    package func hexadecimal(_ bytes: some ContiguousBytes) -> String {
        String(hexadecimal: self.bytes(bytes))
    }

    package func hexadecimal(_ text: String) -> String {
        var text = text
        return text.withUTF8 { hexadecimal($0) }
    }

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

extension String {
    /// `bytes` as two lower-case hexadecimal digits each.
    package init(hexadecimal bytes: [UInt8]) {
        self.init(unsafeUninitializedCapacity: 2 * bytes.count) { buffer in
            let digits: StaticString = "0123456789abcdef"
            for (place, byte) in bytes.enumerated() {
                buffer[2 * place] = digits.utf8Start[Int(byte >> 4)]
                buffer[2 * place + 1] = digits.utf8Start[Int(byte & 15)]
            }
            return 2 * bytes.count
        }
    }

    /// 128 random bits as hexadecimal digits: a unique name that cannot be guessed.
    package static func randomHexadecimal() -> String {
        // By words, because every number is a call of the system.
        let words = (0..<2).map { _ in UInt64.random(in: .min ... .max) }
        return String(hexadecimal: words.withUnsafeBytes { Array($0) })
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit; `nil` for any other character.
    package init?(hexadecimalDigit byte: UInt8) {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self = byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self = byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self = byte - UInt8(ascii: "A") + 10
        default: return nil
        }
    }
}
