/// What went through the server so far.
struct TrafficLog: Sendable {
    private(set) var requests: [RecordedRequest] = []
    private(set) var countByPath: [String: Int] = [:]
    private(set) var openConnections: Set<Int> = []
    private(set) var connectionCount = 0
    private(set) var peakConnections = 0
    private(set) var pending: Set<Int> = []
    private(set) var peakPending = 0
    private(set) var abandoned = 0
    private var requestCount = 0

    /// - Returns: The number of the new connection.
    mutating func connectionOpened() -> Int {
        connectionCount += 1
        openConnections.insert(connectionCount)
        peakConnections = max(peakConnections, openConnections.count)
        return connectionCount
    }

    mutating func connectionClosed(_ id: Int) {
        openConnections.remove(id)
    }

    /// - Returns: A number for `responseEnded`.
    mutating func requestReceived(_ request: RecordedRequest) -> Int {
        requests.append(request)
        countByPath[request.path, default: 0] += 1
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
        countByPath = [:]
        abandoned = 0
        peakPending = pending.count
        peakConnections = openConnections.count
    }
}
