/// Decides how many requests are under way to a host at a time; the others wait in line.
///
/// The most urgent request goes first, and among equally urgent ones the one that came first.
///
/// The HTTP client has a line of its own, but counts the time in it as time to connect, so that a
/// long list of images from a slow server would time out.
package struct HostAdmission {
    /// What an HTTP/2 server should at least allow on one connection (RFC 9113, section 6.5.2).
    package static let multiplexedLimit = 100

    /// A request in line.
    private struct Place {
        let request: Int
        /// Counts the requests of all hosts in the order they came.
        let arrival: Int
        var priority: Float

        func isBefore(_ other: Place) -> Bool {
            priority == other.priority ? arrival < other.arrival : priority > other.priority
        }
    }

    private struct Host {
        var running = 0
        /// Whose turn is next comes first.
        var line: [Place] = []
        var isMultiplexed = false

        mutating func insert(_ place: Place) {
            var bounds = 0..<line.count
            while !bounds.isEmpty {
                let middle = bounds.lowerBound + bounds.count / 2
                bounds =
                    line[middle].isBefore(place)
                    ? middle + 1..<bounds.upperBound : bounds.lowerBound..<middle
            }
            line.insert(place, at: bounds.lowerBound)
        }

        mutating func remove(_ request: Int) -> Place? {
            line.firstIndex { $0.request == request }.map { line.remove(at: $0) }
        }
    }

    /// Requests to a host that needs a connection for each.
    package let limit: Int
    private var hosts: [String: Host] = [:]
    private var nextArrival = 0

    package init(limit: Int) {
        self.limit = limit
    }

    /// Adds a request; `false` when it has to wait.
    ///
    /// - Parameter priority: Must not be NaN.
    package mutating func enter(_ request: Int, host: String, priority: Float) -> Bool {
        let place = Place(request: request, arrival: nextArrival, priority: priority)
        nextArrival += 1
        hosts[host, default: Host()].insert(place)
        return admitted(to: host).contains(request)
    }

    /// Makes a request in line more or less urgent; does nothing when it is not in line.
    package mutating func reprioritize(_ request: Int, host: String, priority: Float) {
        guard var place = hosts[host]?.remove(request) else { return }
        place.priority = priority
        hosts[host]?.insert(place)
    }

    /// Ends a request that was under way.
    ///
    /// - Returns: Those that need not wait any longer.
    package mutating func leave(_ host: String) -> [Int] {
        hosts[host]?.running -= 1
        return admitted(to: host)
    }

    /// Takes a request out of the line; `false` when it is not in it.
    package mutating func abandon(_ request: Int, host: String) -> Bool {
        hosts[host]?.remove(request) != nil
    }

    /// Notes that all requests to a host share one connection.
    ///
    /// - Returns: Those that need not wait any longer.
    package mutating func multiplex(_ host: String) -> [Int] {
        guard hosts[host]?.isMultiplexed == false else { return [] }
        hosts[host]?.isMultiplexed = true
        return admitted(to: host)
    }

    private mutating func admitted(to name: String) -> [Int] {
        guard var host = hosts[name] else { return [] }
        let limit = host.isMultiplexed ? Self.multiplexedLimit : limit
        let admitted = host.line.prefix(max(0, limit - host.running)).map(\.request)
        host.line.removeFirst(admitted.count)
        host.running += admitted.count
        hosts[name] = host.running == 0 && !host.isMultiplexed ? nil : host
        return admitted
    }
}
