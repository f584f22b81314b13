extension Benchmark {
    /// Every benchmark, in the order of the table. A new one is one more element of its group, a new
    /// group one more file in `Rows` and one more line here.
    static let all: [Benchmark] =
        memoryCache
        + requests
        + freshness
        + diskCache
        + downloads
        + coalescing
        + photos
        + fourCut
        + jpeg
        + formats
        + modernFormats
        + workers
        + peakMemory
        + playback
        + placeholders
}
