public import Foundation
public import Halcyon
import HalcyonWork

/// A manager that reaches neither the network nor the caches of the user, for one test.
///
/// Its parts are of the ordinary classes, so that what a test sees is what a program does.
///
/// ```swift
/// let environment = try TestEnvironment()
/// let url = URL(string: "https://example.com/bird.png")!
/// environment.transport.answer(url, with: try .image(.solid(.red, width: 8, height: 8)))
///
/// let result = try await environment.manager.retrieveImage(with: url)
/// print(result.image.pixelSize, environment.transport.requestCount(for: url))
/// ```
public final class TestEnvironment: Sendable {
    /// The clock of the network's delays, and of everything that expires.
    public let clock: ManualClock
    public let transport: TestTransport
    public let downloader: ImageDownloader
    public let cache: ImageCache
    public let manager: KingfisherManager
    private let folder: URL

    /// - Throws: `KingfisherError` when there is no room for the cache's files.
    public init() throws {
        clock = ManualClock()
        transport = TestTransport(clock: clock)
        let date: @Sendable () -> Date = { [clock] in clock.date }
        downloader = ImageDownloader(name: "test", transport: transport, now: date)
        folder = Self.root.appendingPathComponent("halcyon-test-\(UUID().uuidString)")
        cache = try ImageCache(name: "test", folder: folder, now: date)
        manager = KingfisherManager(downloader: downloader, cache: cache)
    }

    deinit {
        // Whatever is left of it is in a folder for files that go.
        try? FileManager.default.removeItem(at: folder)
    }

    /// In memory where the system has such a folder.
    private static let root: URL = {
        let memory = "/dev/shm"
        return FileManager.default.isWritableFile(atPath: memory)
            ? URL(fileURLWithPath: memory, isDirectory: true)
            : FileManager.default.temporaryDirectory
    }()
}

extension ManualClock {
    /// The time on the wall that goes with the clock's time: it begins with 2030.
    public var date: Date {
        Date(timeIntervalSince1970: 1_893_456_000 + now.offset.inSeconds)
    }
}
