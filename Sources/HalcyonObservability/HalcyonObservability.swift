#if Observability
    @_exported public import HalcyonTelemetry
#else
    /// Not there without the trait of the package: `traits: ["Observability"]` where a package names it among its
    /// dependencies.
    @available(
        *, unavailable,
        message: "Turn on the trait Observability of the package halcyon to observe requests"
    )
    public enum ImageObservation {}
#endif
