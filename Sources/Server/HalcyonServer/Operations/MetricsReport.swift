import Foundation
import HalcyonHTTP
import HalcyonPixels
import HalcyonServerURLs
import HalcyonStorage
import HalcyonWork
import NIOCore
import Vips

extension ImageServer {
    /// Answers a request to the operations address: health, metrics, and the caches.
    @Sendable func answerOperations(_ request: ServerRequest) async -> ServerAnswer {
        let path = request.target.prefix { $0 != "?" }
        var answer: ServerAnswer
        if let health = health(path, request, tellsReason: true) {
            answer = health
        } else if let found = await operations(path, request) {
            answer = found
        } else {
            answer = errorAnswer(Failure(.notFound, "There is nothing at this path"), to: request)
        }
        complete(&answer, for: request)
        return answer
    }

    /// Answers with metrics or about the caches; `nil` for other paths.
    func operations(_ path: Substring, _ request: ServerRequest) async -> ServerAnswer? {
        guard path == "/metrics", request.method == "GET" || request.method == "HEAD" else {
            return await upkeep(path, request)
        }
        if request.routes.contains(.operations) {
            do throws(Failure) { try checkOperator(request) } catch {
                return errorAnswer(error, to: request)
            }
        }
        return .text(
            200, metrics.text(adding: await gauges()),
            type: "text/plain; version=0.0.4; charset=utf-8")
    }

    /// Whether a public request is about the process instead of a picture.
    func asksForHealth(_ request: ServerRequest) -> Bool {
        guard request.routes.contains(.health), request.method == "GET" || request.method == "HEAD"
        else { return false }
        return switch request.path {
        case "/live", "/ready", "/health": true
        default: false
        }
    }

    /// Answers whether the process is alive, or accepts requests; `nil` for other paths.
    func health(
        _ path: Substring, _ request: ServerRequest, tellsReason: Bool = false
    ) -> ServerAnswer? {
        guard request.method == "GET" || request.method == "HEAD" else { return nil }
        switch path {
        case "/live":
            return .text(200, "ok\n")
        case "/ready", "/health":
            let state = currentState
            let reasons =
                (state == .ready ? [] : [state.rawValue]) + (codecs.fault.map { [$0] } ?? [])
            if reasons.isEmpty { return .text(200, "ok\n") }
            guard tellsReason else { return .text(503, "not ready\n") }
            let words = reasons.map { "\"\($0)\"" }.joined(separator: ",")
            return .text(503, "{\"reasons\":[\(words)]}\n", type: "application/json")
        default:
            return nil
        }
    }

    private func gauges() async -> [Gauge] {
        var gauges = Gauge.process(since: metrics.start)
        for gate in [makers.downloads, makers.gate, makers.encoders] {
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
            ("version", Self.version), ("swift", Self.languageVersion), ("vips", Vips.version),
        ]
        return gauges + [
            Gauge("halcyon_connections", "Connections of clients.", clients.count),
            Gauge("halcyon_build_info", "Versions.", 1, versions),
        ]
    }

    private func cacheGauges() async -> [Gauge] {
        await cacheUsage().flatMap { cache, tier, usage, limit in
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

    /// The version of Halcyon.
    public static let version = Release.version
}
