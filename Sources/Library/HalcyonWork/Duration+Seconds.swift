extension Duration {
    /// The duration in seconds, exact for whole ones. A division by `.seconds(1)` is not: 3601 s become
    /// 3600.9999999999995.
    package var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }

    /// The whole nanoseconds, or as many as can be counted: 292 years.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return Int64(
            clamping: Int128(seconds) * 1_000_000_000 + Int128(attoseconds / 1_000_000_000))
    }
}
