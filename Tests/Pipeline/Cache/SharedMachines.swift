import Foundation
import HalcyonTestKit

@testable import Halcyon
import HalcyonWork

/// A storage of several caches, in memory, that writes down what is asked of it and fails when told to.
final class SharedTable: SharedImageStorage, Sendable {
    enum Call: Equatable, Sendable { case data, store, remove }

    struct Failure: Error {}

    let calls = Recorder<Call>()
    let objects = Observed<[String: Data]>([:])
    let isBroken = Locked(false)
    /// What reading waits for.
    let gate = Gate()

    init(isHeld: Bool = false) {
        if !isHeld { gate.open() }
    }

    func data(named name: String) async throws -> Data? {
        calls.record(.data)
        try await gate.wait()
        if isBroken.value { throw Failure() }
        return objects.value[name]
    }

    func store(_ data: Data, named name: String) async throws {
        calls.record(.store)
        if isBroken.value { throw Failure() }
        objects.update { $0[name] = data }
    }

    func remove(named name: String) async throws {
        calls.record(.remove)
        if isBroken.value { throw Failure() }
        objects.update { $0[name] = nil }
    }

    func count(_ call: Call) -> Int { calls.events.count { $0 == call } }
}

/// Two machines with caches of their own, an origin, and a storage that they share.
final class SharedMachines: Sendable {
    /// The width of a picture, and where it was found.
    struct Found: Equatable, Sendable {
        let width: Int
        let type: CacheType

        init(_ width: Int, _ type: CacheType) {
            self.width = width
            self.type = type
        }
    }

    let table: SharedTable
    let one: FreshnessFixture
    let two: FreshnessFixture

    init(_ caching: HTTPCaching = .off, table: SharedTable = SharedTable()) async throws {
        self.table = table
        let folders = try [TemporaryDirectory(), TemporaryDirectory()]
        let caches = try folders.map {
            try ImageCache(name: "test", cacheDirectoryURL: $0.url, shared: table)
        }
        one = try await FreshnessFixture(caching, in: folders[0], cache: caches[0])
        two = try await FreshnessFixture(caching, in: folders[1], cache: caches[1], beside: one)
        serve(3)
    }

    var origin: OriginServer { one.origin }
    var url: URL { one.url() }

    func serve(_ width: Int, _ cacheControl: String? = nil, tag: String? = nil) {
        one.serve(width, cacheControl, tag: tag)
    }

    func get(
        _ machine: FreshnessFixture, _ options: KingfisherOptionsInfo = []
    ) async throws -> Found {
        let result = try await machine.get(options)
        return Found(result.image.pixelSize.width, result.cacheType)
    }
}
