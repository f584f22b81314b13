import Foundation
internal import HalcyonWork

/// Signs the paths of image URLs, and verifies their signatures.
///
/// A signature is HMAC-SHA-256 over salt and path, shortened, in base64url without padding. Keys are
/// changed by putting the new pair first and leaving the old one in for a time.
public struct PathSigner: Sendable {
    /// A key and a salt, which make signatures together.
    public struct Pair: Sendable {
        let key: [UInt8]
        let salt: [UInt8]

        public init(key: [UInt8], salt: [UInt8]) {
            self.key = key
            self.salt = salt
        }

        /// `nil` unless both are an even number of hexadecimal digits.
        public init?(hexadecimalKey: String, salt: String) {
            guard let key = Self.bytes(hexadecimalKey), let salt = Self.bytes(salt) else {
                return nil
            }
            self.init(key: key, salt: salt)
        }

        private static func bytes(_ text: String) -> [UInt8]? {
            let digits = text.utf8.compactMap { UInt8(hexadecimalDigit: $0) }
            guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else {
                return nil
            }
            return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        }
    }

    /// Why a signature is valid.
    public enum Match: Sendable, Hashable {
        /// Signed with the pair at this index.
        case pair(Int)
        /// One of the texts that are accepted in place of a signature.
        case trusted
    }

    private let pairs: [Pair]
    private let size: Int
    private let trusted: [String]

    /// - Parameters:
    ///   - pairs: The first signs, all verify.
    ///   - size: Bytes of the digest that are used, 8…32; others count as the nearest of these.
    ///   - trusted: Texts accepted in place of a signature.
    public init(pairs: [Pair], size: Int = 32, trusted: [String] = []) {
        self.pairs = pairs
        self.size = min(max(size, 8), 32)
        self.trusted = trusted.filter { !$0.isEmpty }
    }

    /// The signature of `path`, which begins with a slash; `nil` without a key.
    public func sign(_ path: String) -> String? {
        pairs.first.map { Base64URL.encode(digest(path, with: $0)) }
    }

    /// `path` behind its signature, as it follows the prefix of the routes; `nil` without a key.
    public func signed(_ path: String) -> String? { sign(path).map { "/" + $0 + path } }

    /// Why the signature of `path` is valid; `nil` when it is not.
    ///
    /// The time that this takes does not reveal which part of a signature is wrong.
    public func verify(signature: String, path: String) -> Match? {
        var match: Match?
        let given = Base64URL.decode(signature) ?? []
        // All pairs are tried, also after one has matched.
        for (index, pair) in pairs.enumerated() {
            let isEqual = Self.areEqual(given, digest(path, with: pair))
            if isEqual, match == nil { match = .pair(index) }
        }
        for text in trusted {
            let isEqual = Self.areEqual(Array(signature.utf8), Array(text.utf8))
            if isEqual, match == nil { match = .trusted }
        }
        return match
    }

    private func digest(_ path: String, with pair: Pair) -> [UInt8] {
        Array(
            Digest.sha256.authenticationCode(pair.salt + Array(path.utf8), key: pair.key)
                .prefix(size))
    }

    /// Whether two secrets are equal, found out in a time that depends on the lengths only.
    package static func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        guard first.count == second.count else { return false }
        var difference: UInt8 = 0
        for (one, other) in zip(first, second) { difference |= one ^ other }
        return difference == 0
    }
}

// Keys, salts and trusted texts are shown nowhere.

extension PathSigner: CustomStringConvertible, CustomReflectable {
    public var description: String {
        "PathSigner(\(pairs.count) pairs, \(trusted.count) trusted texts, \(size) bytes)"
    }

    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension PathSigner.Pair: CustomStringConvertible, CustomReflectable {
    public var description: String { "PathSigner.Pair" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
