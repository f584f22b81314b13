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
        var gauges = Gauge.process
        for gate in [makers.downloads, makers.gate, makers.encoders] {
            let usage = gate.usage
            let labels = [("gate", gate.name)]
            gauges += [
                Gauge(
                    name: "halcyon_gate_in_use", help: "Places taken.", labels: labels,
                    value: Double(usage.passing)),
                Gauge(
                    name: "halcyon_gate_waiting", help: "Requests in line.", labels: labels,
                    value: Double(usage.waiting)),
                Gauge(
                    name: "halcyon_gate_limit", help: "Places there are.", labels: labels,
                    value: Double(usage.limit)),
            ]
        }
        gauges += await cacheGauges() + memoryGauges + workerGauges
        gauges += cluster?.gauges ?? []
        gauges.append(
            Gauge(
                name: "halcyon_connections", help: "Connections of clients.",
                value: Double(clients.count)))
        gauges.append(
            Gauge(
                name: "halcyon_build_info", help: "Versions.",
                labels: [
                    ("version", Self.version), ("swift", Self.languageVersion),
                    ("vips", Vips.version),
                ], value: 1))
        return gauges
    }

    private func cacheGauges() async -> [Gauge] {
        let cache = configuration.cache
        let known = sources.remote?.known
        let tiers = [
            ("source", "memory", known?.memoryUsage, cache.sources.memoryBytes),
            ("source", "disk", await known?.diskUsage(), cache.sources.bytes),
            ("result", "memory", makers.results.memoryUsage, cache.results.memoryBytes),
            ("result", "disk", await makers.results.diskUsage(), cache.results.bytes),
        ]
        return tiers.flatMap { cache, tier, usage, limit in
            let usage = usage ?? TierUsage()
            let labels = [("cache", cache), ("tier", tier)]
            return [
                Gauge(
                    name: "halcyon_cache_bytes", help: "Bytes in the caches.", labels: labels,
                    value: Double(usage.bytes)),
                Gauge(
                    name: "halcyon_cache_entries", help: "Pictures in the caches.",
                    labels: labels, value: Double(usage.entries)),
                Gauge(
                    name: "halcyon_cache_limit_bytes", help: "Bytes that the caches may have.",
                    labels: labels, value: Double(limit)),
                Gauge(
                    name: "halcyon_cache_evictions_total",
                    help: "Pictures that had to go to make room for others.", type: "counter",
                    labels: labels, value: Double(usage.evictions)),
            ]
        }
    }

    /// The memory of the process, including other users of libvips in it.
    private var memoryGauges: [Gauge] {
        let heap = HeapUsage.current
        // The parts of the resident memory besides files. The caches, and pixels in libvips, are on
        // the heap.
        let parts = [
            ("heap", heap.used), ("heap_unused", heap.unused),
            ("pixels", PixelMemoryPool.shared.usedCount),
            ("pixels_waiting", PixelMemoryPool.shared.waitingCount),
        ]
        return parts.map { part, bytes in
            Gauge(
                name: "halcyon_memory_bytes",
                help:
                    "Memory by what has it: given out by malloc or kept by it, pixels or kept for them.",
                labels: [("part", part)], value: Double(bytes))
        } + [
            Gauge(
                name: "halcyon_decoding_memory_bytes", help: "Memory of decoding, as estimated.",
                value: Double(DecodingBudget.shared.heldBytes)),
            Gauge(
                name: "halcyon_decoding_memory_limit_bytes",
                help: "Memory that decoding may take.", value: Double(DecodingBudget.shared.limit)),
            Gauge(
                name: "halcyon_decoding_memory_waiting", help: "Pictures that wait for memory.",
                value: Double(DecodingBudget.shared.waitingCount)),
            Gauge(
                name: "halcyon_vips_memory_bytes", help: "Memory of pixels in libvips.",
                value: Double(Vips.trackedMemory)),
            Gauge(
                name: "halcyon_vips_memory_highwater_bytes",
                help: "The most memory of pixels in libvips so far.",
                value: Double(Vips.trackedMemoryHighWater)),
            Gauge(
                name: "halcyon_vips_allocations", help: "Pieces of memory of pixels in libvips.",
                value: Double(Vips.trackedAllocations)),
        ]
    }

    /// The processes that decode for this one.
    private var workerGauges: [Gauge] {
        let workers = DecodingWorker.statistics
        return [
            Gauge(
                name: "halcyon_worker_alive", help: "Processes that decode.",
                value: Double(workers.alive)),
            Gauge(
                name: "halcyon_worker_memory_bytes",
                help: "Memory that processes that decode have for themselves.",
                value: Double(workers.memory)),
            Gauge(
                name: "halcyon_worker_started_total", help: "Processes started to decode.",
                type: "counter", value: Double(workers.started)),
            Gauge(
                name: "halcyon_worker_died_total",
                help: "Processes that a source has ended while they decoded it.", type: "counter",
                value: Double(workers.died)),
            Gauge(
                name: "halcyon_worker_killed_total",
                help: "Processes ended because decoding took too long, or nobody waited for it.",
                type: "counter", value: Double(workers.killed)),
        ]
    }

    /// The version of the compiler.
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
