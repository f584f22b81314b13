import Halcyon
import HalcyonWork
import Vips

/// The metrics of a server as text, with the numbers that are measured on request.
struct MetricsReport: Sendable {
    let metrics: ServerMetrics
    let gates: WorkGates
    let caches: CacheReport
    let clients: ClientRegistry
    /// `nil` when nothing is shared with other servers.
    let cluster: Cluster?

    func text() async -> String { metrics.text(adding: await gauges()) }

    private func gauges() async -> [Gauge] {
        var gauges = Gauge.process(since: metrics.start)
        for gate in [gates.downloads, gates.decoders, gates.encoders] {
            let usage = gate.usage
            let labels = [("gate", gate.name)]
            gauges += [
                Gauge("halcyon_gate_in_use", "Places taken.", usage.passing, labels),
                Gauge("halcyon_gate_waiting", "Requests in line.", usage.waiting, labels),
                Gauge("halcyon_gate_limit", "Places there are.", usage.limit, labels),
            ]
        }
        gauges += await cacheGauges() + memoryGauges + workerGauges
        gauges += cluster?.gauges ?? []
        let versions = [
            ("version", Release.version), ("swift", Self.languageVersion), ("vips", Vips.version),
        ]
        return gauges + [
            Gauge("halcyon_connections", "Connections of clients.", clients.count),
            Gauge("halcyon_build_info", "Versions.", 1, versions),
        ]
    }

    private func cacheGauges() async -> [Gauge] {
        await caches.usage().flatMap { cache, tier, usage, limit in
            let labels = [("cache", cache), ("tier", tier)]
            return [
                Gauge("halcyon_cache_bytes", "Bytes in the caches.", usage.bytes, labels),
                Gauge("halcyon_cache_entries", "Pictures in the caches.", usage.entries, labels),
                Gauge(
                    "halcyon_cache_limit_bytes", "Bytes that the caches may have.", limit, labels),
                Gauge(
                    "halcyon_cache_evictions_total",
                    "Pictures that had to go to make room for others.", usage.evictions, labels,
                    type: "counter"),
            ]
        }
    }

    /// The memory of the process, including other users of libvips in it.
    private var memoryGauges: [Gauge] {
        let heap = HeapUsage.current
        // The resident memory besides files. The caches, and pixels in libvips, are on the heap.
        let parts = [
            ("heap", heap.used), ("heap_unused", heap.unused),
            ("pixels", PixelMemoryPool.shared.usedCount),
            ("pixels_waiting", PixelMemoryPool.shared.waitingCount),
        ]
        let gauges = parts.map { part, bytes in
            Gauge(
                "halcyon_memory_bytes",
                "Memory by what has it: given out by malloc or kept by it, pixels or kept for them.",
                bytes, [("part", part)])
        }
        return gauges + [
            Gauge(
                "halcyon_decoding_memory_bytes", "Memory of decoding, as estimated.",
                DecodingBudget.shared.heldBytes),
            Gauge(
                "halcyon_decoding_memory_limit_bytes", "Memory that decoding may take.",
                DecodingBudget.shared.limit),
            Gauge(
                "halcyon_decoding_memory_waiting", "Pictures that wait for memory.",
                DecodingBudget.shared.waitingCount),
            Gauge("halcyon_vips_memory_bytes", "Memory of pixels in libvips.", Vips.trackedMemory),
            Gauge(
                "halcyon_vips_memory_highwater_bytes",
                "The most memory of pixels in libvips so far.", Vips.trackedMemoryHighWater),
            Gauge(
                "halcyon_vips_allocations", "Pieces of memory of pixels in libvips.",
                Vips.trackedAllocations),
        ]
    }

    /// The processes that decode for this one.
    private var workerGauges: [Gauge] {
        let workers = DecodingWorker.statistics
        return [
            Gauge("halcyon_worker_alive", "Processes that decode.", workers.alive),
            Gauge(
                "halcyon_worker_memory_bytes",
                "Memory that processes that decode have for themselves.", workers.memory),
            Gauge(
                "halcyon_worker_started_total", "Processes started to decode.", workers.started,
                type: "counter"),
            Gauge(
                "halcyon_worker_died_total",
                "Processes that a source has ended while they decoded it.", workers.died,
                type: "counter"),
            Gauge(
                "halcyon_worker_killed_total",
                "Processes ended because decoding took too long, or nobody waited for it.",
                workers.killed, type: "counter"),
        ]
    }

    private static var languageVersion: String {
        #if compiler(>=6.4)
            "6.4"
        #elseif compiler(>=6.3)
            "6.3"
        #else
            "6.2"
        #endif
    }
}
