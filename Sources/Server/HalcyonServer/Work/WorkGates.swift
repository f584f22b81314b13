import HalcyonWork

/// The limits of a server's work.
struct WorkGates: Sendable {
    let downloads: Gate
    /// For work on pixels.
    let decoders: Gate
    /// Entered before ``decoders`` for pictures with a multithreaded encoder.
    let encoders: Gate

    init(_ work: ImageServerConfiguration.Work, time: TimeSource) {
        downloads = Gate(
            "downloads",
            Admission(
                width: work.downloads, widthOfGroup: work.downloadsPerHost, queue: work.queue),
            time: time)
        decoders = Gate(
            "decoders",
            Admission(width: min(work.decoders, Processors.count), queue: work.queue), time: time)
        encoders = Gate(
            "encoders", Admission(width: work.avifEncoders, queue: work.queue), time: time)
    }

    /// Whether requests wait for downloads or decoders, or all places are taken.
    var areBusy: Bool {
        [decoders, downloads].contains { gate in
            let usage = gate.usage
            return usage.waiting > 0 || usage.passing >= usage.limit
        }
    }

    /// The estimated seconds until all who wait have had their turn; 1…30.
    var secondsUntilFree: Int { max(decoders.secondsUntilFree, downloads.secondsUntilFree) }
}
