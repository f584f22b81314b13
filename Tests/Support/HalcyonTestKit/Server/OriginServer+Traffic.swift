extension OriginServer {
    /// How many requests came, whatever their answer.
    public var requestCount: Int { state.traffic.value.requests.count }

    /// How many requests came for a path; give it decoded and without a query.
    public func requestCount(for path: String) -> Int {
        requests(for: path).count
    }

    /// The requests in the order they came.
    public var requests: [RecordedRequest] { state.traffic.value.requests }

    /// The requests for a path; give it decoded and without a query.
    public func requests(for path: String) -> [RecordedRequest] {
        requests.filter { $0.path == path }
    }

    /// How many connections were opened so far.
    public var connectionCount: Int { state.traffic.value.connectionCount }

    /// The most connections open at one time.
    ///
    /// A client that closes one and opens another may be counted with both for a moment.
    public var peakConnections: Int { state.traffic.value.peakConnections }

    /// The most requests answered at one time.
    ///
    /// A request ends just before the last byte of its response leaves, so that it is never counted
    /// together with the one a client sends next.
    public var peakConcurrentRequests: Int { state.traffic.value.peakPending }

    /// How many responses clients left before their end.
    public var abandonedRequestCount: Int { state.traffic.value.abandoned }

    /// Waits until at least `count` requests came, for `path` if given; returns at once when
    /// cancelled.
    public func waitForRequests(_ count: Int, path: String? = nil) async {
        await state.traffic.wait { traffic in
            traffic.requests.count { path == nil || $0.path == path } >= count
        }
    }

    /// Waits until no more than `count` connections are open; returns at once when cancelled.
    public func waitForConnections(atMost count: Int) async {
        await state.traffic.wait { $0.openConnections <= count }
    }

    /// Waits until clients left at least `count` responses; returns at once when cancelled.
    public func waitForAbandonedRequests(_ count: Int) async {
        await state.traffic.wait { $0.abandoned >= count }
    }

    /// Forgets the requests and peaks so far.
    public func forgetTraffic() {
        state.traffic.update { $0.forget() }
    }
}
