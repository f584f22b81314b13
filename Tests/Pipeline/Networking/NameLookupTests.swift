import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

struct NameLookupTests {
    @Test(.enabled(if: SilentNameServer.isPossible), .timeLimit(.minutes(1)))
    func aNameServerThatIsSilentHoldsNobodyUp() async throws {
        let nameServer = try SilentNameServer()
        let server = try await OriginServer.start()
        server.route("/x", .ok(Data([42])))
        let downloader = ImageDownloader.patient()
        // A transport of its own.
        downloader.connectTimeout = 45.25
        let results = Recorder<LoadingResult>()
        let task = try nameServer.use {
            downloader.download(URL(string: "http://a.halcyon.test/x")!, into: results)
        }
        await nameServer.queries.waitFor(count: 1)
        // While the look-up goes on, others are served by the same thread.
        #expect(await downloader.result(server.url("/x")).errorCode == nil)
        task.cancel()
        #expect(await results.waitFor(count: 1).first?.errorCode == 1003)
        #expect(await downloader.result(server.url("/x")).errorCode == nil)
    }

    @Test(.enabled(if: SilentNameServer.isPossible), .timeLimit(.minutes(1)))
    func theTimeToConnectIncludesTheLookup() async throws {
        let nameServer = try SilentNameServer()
        let downloader = ImageDownloader.patient()
        downloader.connectTimeout = 0.75
        let url = URL(string: "http://b.halcyon.test/x")!
        let results = Recorder<LoadingResult>()
        _ = try nameServer.use { downloader.download(url, into: results) }
        #expect(
            await results.waitFor(count: 1).first?.transportError
                == .timedOut(.connect, url: url.absoluteString))
    }

    @Test func proxiesOfTheEnvironmentAreUsedUnlessForbidden() async {
        await #expect(processExitsWith: .success) {
            let proxy = try await OriginServer.start()
            setenv("http_proxy", proxy.baseURL.absoluteString, 1)
            unsetenv("no_proxy")
            unsetenv("NO_PROXY")
            let url = URL(string: "http://no-such-host.invalid/x")!
            let downloader = ImageDownloader.patient()
            // The proxy knows no such address.
            #expect(await downloader.result(url).errorCode == 2002)
            #expect(proxy.requests.map(\.target) == [url.absoluteString])
            for isRestricted in [false, true] {
                downloader.usesEnvironmentProxies = isRestricted
                downloader.addressPolicy = isRestricted ? .publicOnly : .unrestricted
                let failure = await downloader.result(url).transportError
                #expect(failure?.kind == "cannotResolveHost")
            }
            #expect(proxy.requestCount == 1)
        }
    }
}

/// A name server on this machine that never answers, for one thread and those that it starts.
private final class SilentNameServer: Sendable {
    let queries = Recorder<Int>()

    /// How many there have been: each has an address of its own, or one would be asked in place of
    /// another.
    private static let count = Locked(0)
    private let descriptor: Int32
    private let folder: TemporaryDirectory

    /// Whether this process may give a thread its own view of the files, and use port 53.
    static var isPossible: Bool {
        guard geteuid() == 0, let server = try? SilentNameServer() else { return false }
        return (try? server.use { true }) == true
    }

    init() throws {
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        let address = "127.83.0.\(number)"
        folder = try TemporaryDirectory(prefix: "halcyon-resolver")
        try folder.write(
            Data("nameserver \(address)\noptions timeout:30 attempts:5\n".utf8),
            to: "resolv.conf")
        descriptor = try Self.bound(to: address)
        Thread { [descriptor, queries] in
            // Not by who shuts it down: the number could be another socket's before it is read again.
            defer { close(descriptor) }
            var bytes = [UInt8](repeating: 0, count: 512)
            while case let count = recv(descriptor, &bytes, bytes.count, 0), count > 0 {
                queries.record(count)
            }
        }.start()
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private static func bound(to host: String) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(53).bigEndian
        address.sin_addr.s_addr = inet_addr(host)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
        }
        guard result == 0 else {
            close(descriptor)
            throw POSIXError(.EADDRNOTAVAIL)
        }
        return descriptor
    }

    /// Runs `body` on a thread that asks this server, as do the threads that are started there.
    func use<Value: Sendable>(_ body: @escaping @Sendable () -> Value) throws -> Value {
        let file = folder.file("resolv.conf").path
        let done = DispatchSemaphore(value: 0)
        let value = Locked<Value?>(nil)
        Thread {
            if Self.replace("/etc/resolv.conf", by: file) { value.set(body()) }
            done.signal()
        }.start()
        done.wait()
        guard let value = value.value else { throw POSIXError(.EPERM) }
        return value
    }

    /// Shows this thread the file `other` in place of `file`.
    private static func replace(_ file: String, by other: String) -> Bool {
        typealias Unshare = @convention(c) (Int32) -> Int32
        typealias Mount =
            @convention(c) (
                UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UInt,
                UnsafeRawPointer?
            ) -> Int32
        guard let unshareAddress = dlsym(nil, "unshare"), let mountAddress = dlsym(nil, "mount")
        else { return false }
        let unshare = unsafeBitCast(unshareAddress, to: Unshare.self)
        let mount = unsafeBitCast(mountAddress, to: Mount.self)
        // CLONE_NEWNS; MS_REC and MS_PRIVATE; MS_BIND.
        return unshare(0x20000) == 0 && mount(nil, "/", nil, 0x4000 | 0x40000, nil) == 0
            && mount(other, file, nil, 0x1000, nil) == 0
    }
}
