/// What was measured of one request and its answer.
package struct ExchangeTimes: Sendable {
    /// How long the parts of connecting took. They follow each other.
    package struct Connecting: Equatable, Sendable {
        package var nameLookup: Duration
        package var tcp: Duration
        /// `nil` without TLS.
        package var tls: Duration?

        package init(nameLookup: Duration, tcp: Duration, tls: Duration?) {
            self.nameLookup = nameLookup
            self.tcp = tcp
            self.tls = tls
        }
    }

    /// When the request's turn had come.
    package let start: ContinuousClock.Instant
    /// When a connection stood and the request was about to be written to it.
    package var sent: ContinuousClock.Instant?
    /// When the header of the answer had arrived.
    package var answered: ContinuousClock.Instant?
    /// Whether the connection had been there before; `nil` when that is not known.
    package var isConnectionReused: Bool?
    /// Of a connection that was made for the request.
    package var connecting: Connecting?

    package init(
        start: ContinuousClock.Instant, sent: ContinuousClock.Instant? = nil,
        answered: ContinuousClock.Instant? = nil, isConnectionReused: Bool? = nil,
        connecting: Connecting? = nil
    ) {
        self.start = start
        self.sent = sent
        self.answered = answered
        self.isConnectionReused = isConnectionReused
        self.connecting = connecting
    }
}
