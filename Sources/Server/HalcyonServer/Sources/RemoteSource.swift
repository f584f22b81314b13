import Foundation
import HalcyonHTTP
import HalcyonStorage
import HalcyonWork
import Synchronization

/// A picture of another server, as far as it is known here.
final class RemoteSource: Sendable, CacheCostCalculable {
    /// That of its URL.
    let key: String
    let stored: StoredResponse
    /// A random number that no other bytes have.
    let generation: Int64
    /// Bytes of the body.
    let size: Int
    /// `nil` when it is on the disk only.
    let body: Data?
    /// Whether nothing of it is on the disk yet.
    private let isUnwritten: Atomic<Bool>
    /// 0 for none.
    private let generationAmongServers = Atomic<Int64>(0)

    init(
        key: String, stored: StoredResponse, generation: Int64, size: Int, body: Data?,
        isUnwritten: Bool = false
    ) {
        self.key = key
        self.stored = stored
        self.generation = generation
        self.size = size
        self.body = body
        self.isUnwritten = Atomic(isUnwritten)
    }

    /// One whose bytes have just come.
    convenience init(new stored: StoredResponse, key: String, body: Data) {
        self.init(
            key: key, stored: stored, generation: Int64.random(in: 1...Int64.max),
            size: body.count, body: body)
    }

    /// One whose bytes are at another server only.
    convenience init(head stored: StoredResponse, key: String, size: Int) {
        self.init(
            key: key, stored: stored, generation: Int64.random(in: 1...Int64.max), size: size,
            body: nil, isUnwritten: true)
    }

    /// That of the record that it was found in or published as, by the clock of all servers; `nil` for one of which
    /// nobody else knows.
    var sharedGeneration: Int64? {
        let generation = generationAmongServers.load(ordering: .relaxed)
        return generation == 0 ? nil : generation
    }

    func setSharedGeneration(_ generation: Int64?) {
        generationAmongServers.store(generation ?? 0, ordering: .relaxed)
    }

    /// Whether another server has told of it, and it was heard of before another one: by the clock of all servers, as
    /// far as that is known, and by that of the source's server, or of the one that asked it. Any of them may have been
    /// set back.
    func isOlder(than other: RemoteSource) -> Bool {
        guard let generation = sharedGeneration else { return false }
        return generation < other.sharedGeneration ?? Int64.max
            && !stored.isAtLeastAsNew(as: other.stored)
    }

    /// - Returns: Whether what is known of it is to be written on the disk now; only once.
    func takeTurn() -> Bool {
        isUnwritten.load(ordering: .relaxed) && isUnwritten.exchange(false, ordering: .relaxed)
    }

    var cacheCost: Int { (body?.count ?? 0) + 2048 }

    /// What changes with the content: what the server says of it, else a digest of it.
    var validator: String {
        if let tag = EntityTag(of: stored.fields), tag.isUsable { return tag.text }
        if let modified = stored.fields.first("Last-Modified") { return "\(modified)-\(size)" }
        return stored.fields.first(Self.digestField) ?? "\(generation)"
    }

    /// The same bytes after their server has confirmed them.
    func confirmed(_ stored: StoredResponse) -> RemoteSource {
        RemoteSource(
            key: key, stored: stored, generation: generation, size: size, body: body,
            isUnwritten: isUnwritten.load(ordering: .relaxed))
    }

    /// The same with its bytes at hand.
    func holding(_ body: Data) -> RemoteSource {
        let source = RemoteSource(
            key: key, stored: stored, generation: generation, size: size, body: body)
        source.setSharedGeneration(sharedGeneration)
        return source
    }

    /// What is found under it.
    ///
    /// - Parameter forwarded: What the request has of its client.
    static func key(of url: URL, _ forwarded: ForwardedFields = ForwardedFields()) -> String {
        let key = Digest.sha256.hexadecimal("s1\n" + ResponseKey.normalized(url))
        let variant = forwarded.variant
        return variant.isEmpty ? key : "\(key)+\(variant)"
    }

    /// The key of the same URL without anything of a client; of what is no picture of another server its own.
    static func plainKey(_ key: String) -> String {
        // Others have slashes, and may have any other character.
        guard let mark = key.firstIndex(of: "+"), !key.contains("/") else { return key }
        return String(key[..<mark])
    }

    /// A field of our own, for the digest of a body of which its server says nothing.
    static let digestField = "Halcyon-Digest"
}
