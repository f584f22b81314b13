extension Duration {
    /// The duration in seconds, exact for whole ones. A division by `.seconds(1)` is not: 3601 s become
    /// 3600.9999999999995.
    package var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
