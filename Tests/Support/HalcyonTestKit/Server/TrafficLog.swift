/// What went through the server so far.
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

    mutating func connectionClosed() {
        openConnections -= 1
    }

    /// - Returns: A number for `responseEnded`.
    mutating func requestReceived(_ request: RecordedRequest) -> Int {
        requests.append(request)
        requestCount += 1
        pending.insert(requestCount)
        peakPending = max(peakPending, pending.count)
        return requestCount
    }

    /// Only the first report for a request counts.
    mutating func responseEnded(_ id: Int, abandoned isAbandoned: Bool) {
        guard pending.remove(id) != nil else { return }
        if isAbandoned { abandoned += 1 }
    }

    /// Forgets requests and peaks; what is open stays open.
    mutating func forget() {
        requests = []
        abandoned = 0
        peakPending = pending.count
        peakConnections = openConnections
    }
}
