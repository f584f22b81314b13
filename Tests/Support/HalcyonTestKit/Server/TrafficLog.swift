/// A log of a server's requests and connections.
struct TrafficLog: Sendable {
    private(set) var requests: [RecordedRequest] = []
    private(set) var openConnections = 0
    private(set) var connectionCount = 0
    private(set) var peakConnections = 0
    private(set) var pending: Set<Int> = []
    private(set) var peakPending = 0
    private(set) var abandoned = 0
    private var requestCount = 0

    mutating func connectionOpened() {
        connectionCount += 1
        openConnections += 1
        peakConnections = max(peakConnections, openConnections)
    }

    mutating func connectionClosed() { openConnections -= 1 }

    /// - Returns: The request's identifier for `responseEnded`.
    mutating func requestReceived(_ request: RecordedRequest) -> Int {
        requests.append(request)
        requestCount += 1
        pending.insert(requestCount)
        peakPending = max(peakPending, pending.count)
        return requestCount
    }

    /// Ends a request. Further reports for it are ignored.
    mutating func responseEnded(_ id: Int, abandoned isAbandoned: Bool) {
        guard pending.remove(id) != nil else { return }
        if isAbandoned { abandoned += 1 }
    }

    /// Resets requests and peaks; open connections and pending requests stay counted.
    mutating func forget() {
        requests = []
        abandoned = 0
        peakPending = pending.count
        peakConnections = openConnections
    }
}
