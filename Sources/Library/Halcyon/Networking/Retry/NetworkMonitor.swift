import Foundation
import HalcyonWork
import Synchronization

protocol NetworkMonitoring: Sendable {
    var isConnected: Bool { get }

    /// Whether a server may be reached: there is a network, or none is needed.
    func reaches(_ host: String) -> Bool

    /// Calls `callback` once: with `true` when there is a network again, with `false` after
    /// `timeoutInterval` seconds without one.
    func observeConnectivity(
        timeoutInterval: TimeInterval?, callback: @escaping @Sendable (Bool) -> Void
    ) -> NetworkObserver
}

extension NetworkMonitoring {
    /// Waits until there is a network, or for so many seconds; whether there is one then.
    func isConnected(within seconds: TimeInterval) async -> Bool {
        await handedOver { hand in
            _ = observeConnectivity(timeoutInterval: seconds, callback: hand)
        }
    }
}

/// A wait for the network, which ends once, possibly by a cancellation.
final class NetworkObserver: Sendable {
    private let wasCancelled = OneShot<Bool>()

    func cancel() { wasCancelled.give(true) }

    /// Ends it without a cancellation; `false` if it has ended before.
    func end() -> Bool { wasCancelled.give(false) }

    /// Runs `action` when it is cancelled, at once if it has been.
    func onCancel(_ action: @escaping @Sendable () -> Void) {
        wasCancelled.whenGiven { if $0 { action() } }
    }
}

/// Tells whether this machine has a route to other machines, from the kernel's routing tables; hears of
/// changes from the kernel (rtnetlink).
final class NetworkMonitor: NetworkMonitoring, @unchecked Sendable {
    // Unchecked because of the dispatch source, which may be used from any thread.

    static let shared = NetworkMonitor()

    private let observers = Mutex<[UInt64: @Sendable () -> Void]>([:])
    private let nextID = Atomic<UInt64>(0)
    private let routes: RouteTable
    private let source: (any DispatchSourceRead)?

    /// - Parameter routes: Where the routing tables are read from.
    init(routes: RouteTable = RouteTable()) {
        self.routes = routes
        let socket = Self.openRouteSocket()
        source = socket.map { DispatchSource.makeReadSource(fileDescriptor: $0) }
        source?.setEventHandler { [weak self] in
            var buffer = [UInt8](repeating: 0, count: 8192)
            while socket.map({ recv($0, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 })
                == true
            {}
            self?.changed()
        }
        source?.setCancelHandler { _ = socket.map { close($0) } }
        source?.resume()
    }

    deinit {
        source?.cancel()
    }

    var isConnected: Bool { routes.hasDefaultRoute }

    func reaches(_ host: String) -> Bool {
        if isConnected || host.lowercased() == "localhost" { return true }
        // The name of a machine nearby is not to be told from others.
        let text = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        return IPAddress(text).map { address in
            Self.loopback.contains { $0.contains(address) } || routes.hasDirectRoute(to: address)
        } ?? false
    }

    private static let loopback = ["127.0.0.0/8", "::1"].compactMap(IPNetwork.init)

    func observeConnectivity(
        timeoutInterval: TimeInterval?, callback: @escaping @Sendable (Bool) -> Void
    ) -> NetworkObserver {
        let observer = NetworkObserver()
        let id = nextID.add(1, ordering: .relaxed).newValue
        let finish: @Sendable (Bool) -> Void = { [weak self] connected in
            guard observer.end() else { return }
            self?.forget(id)
            callback(connected)
        }
        observer.onCancel { [weak self] in self?.forget(id) }
        observers.withLock { $0[id] = { finish(true) } }
        if let timeoutInterval {
            DispatchQueue.global().asyncAfter(deadline: .now() + timeoutInterval) {
                finish(false)
            }
        }
        // The network may have come between the caller's question and the registration.
        if isConnected { finish(true) }
        return observer
    }

    /// Looks at the routes and tells the observers when there is one.
    func changed() {
        guard isConnected else { return }
        for tell in observers.withLock({ Array($0.values) }) { tell() }
    }

    private func forget(_ id: UInt64) {
        // Released after the lock: the closure may own what has a `deinit`.
        _ = observers.withLock { $0.removeValue(forKey: id) }
    }

    /// A socket that becomes readable when links, addresses or routes change; `nil` where the kernel
    /// gives none (observers then only end by their timeout).
    private static func openRouteSocket() -> Int32? {
        // struct sockaddr_nl of <linux/netlink.h>, which Swift's Glibc does not have.
        struct Address {
            var family: UInt16 = 16
            var padding: UInt16 = 0
            var port: UInt32 = 0
            /// Links, IPv4 addresses and routes, IPv6 addresses and routes.
            var groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400
        }
        let descriptor = Glibc.socket(
            16, Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var address = Address()
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        guard bound == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}

struct RouteTable: Sendable {
    var folder = "/proc/net"

    /// Where packets go that are for a network; up, and by another interface than loopback.
    private struct Route {
        let network: IPNetwork
        /// Bits of the network's addresses that are the same.
        let length: Int
        /// Whether the machines of the network are reached without another one between.
        let isDirect: Bool
    }

    /// Whether there is a way to all addresses of either version.
    var hasDefaultRoute: Bool { routes.contains { $0.length == 0 } }

    /// Whether an address is in a network that this machine is part of.
    func hasDirectRoute(to address: IPAddress) -> Bool {
        routes.contains { $0.isDirect && $0.length > 0 && $0.network.contains(address) }
    }

    private var routes: [Route] {
        lines("route").dropFirst().compactMap(Self.route4)
            + lines("ipv6_route").compactMap(Self.route6)
    }

    private func lines(_ name: String) -> [[Substring]] {
        // A table that cannot be read has no routes.
        let text = (try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map { $0.split(whereSeparator: \.isWhitespace) }
    }

    /// Columns: Iface Destination Gateway Flags RefCnt Use Metric Mask …, numbers in hexadecimal.
    private static func route4(_ columns: [Substring]) -> Route? {
        guard columns.count > 7, columns[0] != "lo", let first = UInt32(columns[1], radix: 16),
            let flags = Int(columns[3], radix: 16), flags & 0x1 != 0,
            let mask = UInt32(columns[7], radix: 16)
        else { return nil }
        // The kernel prints numbers as they are in memory.
        let address = IPAddress(bytes: withUnsafeBytes(of: first, Array.init))
        let length = mask.nonzeroBitCount
        return Route(
            network: IPNetwork(address, length: length), length: length,
            isDirect: columns[2].allSatisfy { $0 == "0" })
    }

    /// Columns: destination, its prefix length, source, its prefix length, next hop, metric,
    /// references, use, flags, interface; numbers in hexadecimal.
    private static func route6(_ columns: [Substring]) -> Route? {
        guard columns.count == 10, columns[9] != "lo", let flags = Int(columns[8], radix: 16),
            // Up, and not a reject route.
            flags & 0x1 != 0, flags & 0x200 == 0,
            let length = Int(columns[1], radix: 16), (0...128).contains(length)
        else { return nil }
        let digits = Array(columns[0])
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...($0 + 1)]), radix: 16)
        }
        guard bytes.count == 16 else { return nil }
        return Route(
            network: IPNetwork(IPAddress(bytes: bytes), length: length), length: length,
            isDirect: columns[4].allSatisfy { $0 == "0" })
    }
}
