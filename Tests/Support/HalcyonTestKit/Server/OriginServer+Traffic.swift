import HalcyonWork

extension OriginServer {
    /// The number of received requests, whatever their response.
    public var requestCount: Int { state.traffic.value.requests.count }

    public func requestCount(for path: String) -> Int { requests(for: path).count }

    public var requests: [RecordedRequest] { state.traffic.value.requests }

    /// Returns the requests for a path, which is decoded and without a query.
    public func requests(for path: String) -> [RecordedRequest] {
        requests.filter { $0.path == path }
    }

    public var connectionCount: Int { state.traffic.value.connectionCount }

    /// The maximum number of simultaneous connections.
    ///
    /// A client that closes one and opens another may be counted with both for a moment.
    public var peakConnections: Int { state.traffic.value.peakConnections }

    /// The maximum number of simultaneous requests.
    ///
    /// A request ends just before the last byte of its response is sent, so that it is never
    /// counted together with the client's next one.
    public var peakConcurrentRequests: Int { state.traffic.value.peakPending }

    /// The number of responses that clients abandoned before their end.
    public var abandonedRequestCount: Int { state.traffic.value.abandoned }

    /// Waits until at least `count` requests were received, for `path` if given; returns at once
    /// when cancelled.
    public func waitForRequests(_ count: Int, path: String? = nil) async {
        await state.traffic.wait { traffic in
            traffic.requests.count { path == nil || $0.path == path } >= count
        }
    }

    /// Waits until no more than `count` connections are open; returns at once when cancelled.
    public func waitForConnections(atMost count: Int) async {
        await state.traffic.wait { $0.openConnections <= count }
    }

    /// Waits until clients have abandoned at least `count` responses; returns at once when
    /// cancelled.
    public func waitForAbandonedRequests(_ count: Int) async {
        await state.traffic.wait { $0.abandoned >= count }
    }

    /// Forgets the requests and peaks so far.
    public func forgetTraffic() { state.traffic.update { $0.forget() } }
}
