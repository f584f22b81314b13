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

    /// Waits while requests wait for downloads or decoders, or all places are taken.
    func untilFree() async {
        let gates = [decoders, downloads]
        while !Task.isCancelled, gates.contains(where: { $0.usage.isBusy }) {
            for gate in gates { await gate.wait { !$0.isBusy } }
        }
    }

    /// The estimated seconds until all who wait have had their turn; 1…30.
    var secondsUntilFree: Int { max(decoders.secondsUntilFree, downloads.secondsUntilFree) }
}
