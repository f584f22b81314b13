import Foundation
import HalcyonTestKit

@testable import Halcyon

/// A storage of several caches, in memory, that writes down what is asked of it and fails when told to.
final class SharedTable: SharedImageStorage, Sendable {
    enum Call: Equatable, Sendable {
        case data, store, remove
    }

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
    /// One of them.
    struct Machine: Sendable {
        let cache: ImageCache
        let manager: KingfisherManager
        let folder: TemporaryDirectory
    }

    /// The width of a picture, and where it was found.
    struct Found: Equatable, Sendable {
        let width: Int
        let type: CacheType

        init(_ width: Int, _ type: CacheType) {
            self.width = width
            self.type = type
        }
    }

    let origin: OriginServer
    let table: SharedTable
    let clock = Locked(Date(timeIntervalSince1970: 1_800_000_000))
    let one: Machine
    let two: Machine

    init(_ caching: HTTPCaching = .off, table: SharedTable = SharedTable()) async throws {
        origin = try await OriginServer.start()
        self.table = table
        one = try Self.machine(caching, table, clock)
        two = try Self.machine(caching, table, clock)
        serve(3)
    }

    private static func machine(
        _ caching: HTTPCaching, _ table: SharedTable, _ clock: Locked<Date>
    ) throws -> Machine {
        let folder = try TemporaryDirectory()
        let cache = try ImageCache(name: "test", cacheDirectoryURL: folder.url, shared: table)
        let downloader = ImageDownloader(
            name: "test", transport: nil, now: { clock.value },
            network: FakeNetwork(isConnected: true), cacheLog: HTTPCacheLog { _ in })
        // Nobody gives up because the machine is busy with other tests.
        downloader.downloadTimeout = 600
        downloader.connectTimeout = 600
        let manager = KingfisherManager(downloader: downloader, cache: cache)
        manager.defaultOptions = [.httpCaching(caching), .waitForCache]
        return Machine(cache: cache, manager: manager, folder: folder)
    }

    /// Has the origin serve a picture of this width.
    func serve(_ width: Int, _ cacheControl: String? = nil, tag: String? = nil) {
        var response = OriginResponse.png(Self.png(width))
        if let cacheControl { response = response.header("Cache-Control", cacheControl) }
        if let tag { response = response.with(.entityTag(tag)) }
        origin.route("/a.png", response)
    }

    /// Lets seconds pass.
    func pass(_ seconds: TimeInterval) {
        clock.withLock { $0 += seconds }
    }

    static func png(_ width: Int) -> Data { PNGFixture.data(.gradient(width: width, height: 5)) }

    var url: URL { origin.url("/a.png") }

    /// The picture as a machine gets it.
    func get(
        _ machine: Machine, _ options: KingfisherOptionsInfo = []
    ) async throws -> Found {
        let result = try await machine.manager.retrieveImage(with: url, options: options)
        return Found(result.image.pixelSize.width, result.cacheType)
    }

    /// How the picture came about.
    func use(
        _ machine: Machine, _ options: KingfisherOptionsInfo = []
    ) async throws -> String {
        let result = try await machine.manager.retrieveImage(with: url, options: options)
        let use = result.httpCacheUse.map { "\($0)" } ?? "-"
        return "\(result.image.pixelSize.width) \(use)"
    }
}
