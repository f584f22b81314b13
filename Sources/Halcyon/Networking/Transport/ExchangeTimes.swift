/// What was measured of one request and its answer.
struct ExchangeTimes: Sendable {
    /// When the request's turn had come.
    let start: ContinuousClock.Instant
    /// When a connection stood and the request was written to it.
    var sent: ContinuousClock.Instant?
    /// When the header of the answer had arrived.
    var answered: ContinuousClock.Instant?
    /// Whether the connection had carried a request before.
    var isConnectionReused: Bool?
}
