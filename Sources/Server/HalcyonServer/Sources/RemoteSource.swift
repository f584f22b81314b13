import Foundation
import HalcyonHTTP
import HalcyonStorage
import HalcyonWork
import Synchronization

/// A picture of another server, as cached here.
final class RemoteSource: Sendable, CacheCostCalculable {
    let key: String
    let stored: StoredResponse
    /// A random number, unique for these bytes.
    let generation: Int64
    /// Bytes of the body.
    let size: Int
    /// `nil` when it is on the disk only.
    let body: Data?
    /// The generation of the record that it was found in or published as, by the clock of all
    /// servers; `nil` for a source that no other server knows.
    let sharedGeneration: Int64?
    private let isUnwritten: Atomic<Bool>

    init(
        key: String, stored: StoredResponse,
        generation: Int64 = .random(in: 1...Int64.max), sharedGeneration: Int64?, size: Int,
        body: Data?, isUnwritten: Bool = false
    ) {
        self.key = key
        self.stored = stored
        self.generation = generation
        self.sharedGeneration = sharedGeneration
        self.size = size
        self.body = body
        self.isUnwritten = Atomic(isUnwritten)
    }

    convenience init(
        new stored: StoredResponse, key: String, body: Data, sharedGeneration: Int64?
    ) {
        self.init(
            key: key, stored: stored, sharedGeneration: sharedGeneration, size: body.count,
            body: body)
    }

    /// A source whose bytes only another server has.
    convenience init(_ head: SharedHead, key: String, sharedGeneration: Int64?) {
        self.init(
            key: key, stored: head.stored, sharedGeneration: sharedGeneration, size: head.length,
            body: nil, isUnwritten: true)
    }

    /// Whether it comes from another server and is older than `other`: by the clock of all servers,
    /// as far as that is known, and by the clock of the source's server or of the server that asked
    /// it. Any of these clocks may have been set back.
    func isOlder(than other: RemoteSource) -> Bool {
        guard let generation = sharedGeneration else { return false }
        return generation < other.sharedGeneration ?? Int64.max
            && !stored.isAtLeastAsNew(as: other.stored)
    }

    /// - Returns: Whether its head is to be written to the disk now; `true` only once.
    func takeTurn() -> Bool {
        isUnwritten.load(ordering: .relaxed) && isUnwritten.exchange(false, ordering: .relaxed)
    }

    var cacheCost: Int { (body?.count ?? 0) + 2048 }

    /// Changes with the content: the server's validator, else a digest.
    var validator: String {
        if let tag = EntityTag(of: stored.fields), tag.isUsable { return tag.text }
        if let modified = stored.fields.first("Last-Modified") { return "\(modified)-\(size)" }
        return stored.fields.first(Self.digestField) ?? "\(generation)"
    }

    /// Returns the same bytes with the head confirmed by their server.
    func confirmed(_ stored: StoredResponse, sharedGeneration: Int64?) -> RemoteSource {
        RemoteSource(
            key: key, stored: stored, generation: generation, sharedGeneration: sharedGeneration,
            size: size, body: body, isUnwritten: isUnwritten.load(ordering: .relaxed))
    }

    func holding(_ body: Data) -> RemoteSource {
        RemoteSource(
            key: key, stored: stored, generation: generation, sharedGeneration: sharedGeneration,
            size: size, body: body)
    }

    /// Returns the cache key of a URL.
    static func key(of url: URL, _ forwarded: ForwardedFields = ForwardedFields()) -> String {
        let key = Digest.sha256.hexadecimal("s1\n" + ResponseKey.normalized(url))
        let variant = forwarded.variant
        return variant.isEmpty ? key : "\(key)+\(variant)"
    }

    /// Returns the key of the same URL without forwarded fields; other kinds of keys are unchanged.
    static func plainKey(_ key: String) -> String {
        // Other kinds have slashes, and may have any other character.
        guard let mark = key.firstIndex(of: "+"), !key.contains("/") else { return key }
        return String(key[..<mark])
    }

    /// A field of our own, for the digest of a body without a validator from its server.
    static let digestField = "Halcyon-Digest"
}
