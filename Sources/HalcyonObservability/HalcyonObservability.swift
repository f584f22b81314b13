#if Observability
    @_exported public import HalcyonTelemetry
#else
    public import Halcyon

    /// Not there without the trait of the package: `traits: ["Observability"]` where a package names it among its
    /// dependencies.
    public struct ImageObservation: Sendable {
        @available(
            *, unavailable,
            message: "Turn on the trait Observability of the package halcyon to observe requests"
        )
        public init(
            of manager: KingfisherManager, metrics: (any Sendable)? = nil,
            tracer: (any Sendable)? = nil
        ) {}

        /// Returns at once.
        public func run() async {}
    }
#endif
