import Foundation
import HalcyonHTTP
import HalcyonServerPlans
import NIOCore
import Vips

extension ImageServer {
    /// Answers a request to the operations address: health, metrics, and what is kept.
    @Sendable func answerOperations(_ request: ServerRequest) async -> ServerAnswer {
        let path = request.target.prefix { $0 != "?" }
        var answer: ServerAnswer
        if let health = health(path, request, tellsReason: true) {
            answer = health
        } else if path == "/metrics", request.method == "GET" || request.method == "HEAD" {
            answer = .text(
                200, metrics.text(adding: await gauges()),
                type: "text/plain; version=0.0.4; charset=utf-8")
        } else if let upkeep = await upkeep(path, request) {
            answer = upkeep
        } else {
            answer = errorAnswer(Failure(.notFound, "There is nothing at this path"), to: request)
        }
        complete(&answer, for: request)
        return answer
    }

    /// Whether the process answers, and whether it takes requests; `nil` for other paths.
    func health(
        _ path: Substring, _ request: ServerRequest, tellsReason: Bool = false
    ) -> ServerAnswer? {
        guard request.method == "GET" || request.method == "HEAD" else { return nil }
        switch path {
        case "/live":
            return .text(200, "ok\n")
        case "/ready", "/health":
            let state = currentState
            if state == .ready { return .text(200, "ok\n") }
            guard tellsReason else { return .text(503, "not ready\n") }
            return .text(
                503, "{\"reasons\":[\"\(state.rawValue)\"]}\n", type: "application/json")
        default:
            return nil
        }
    }

    private func gauges() async -> [Gauge] {
        var gauges = Gauge.process
        for gate in [makers.downloads, makers.gate] {
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
        let cache = configuration.cache
        let sizes = [
            (
                "source", "memory", sources.remote?.known.memoryBytes ?? 0,
                cache.sources.memoryBytes
            ),
            ("source", "disk", await sources.remote?.known.diskBytes() ?? 0, cache.sources.bytes),
            ("result", "memory", makers.results.memoryBytes, cache.results.memoryBytes),
            ("result", "disk", await makers.results.totalSize(), cache.results.bytes),
        ]
        for (cache, tier, bytes, limit) in sizes {
            let labels = [("cache", cache), ("tier", tier)]
            gauges += [
                Gauge(
                    name: "halcyon_cache_bytes", help: "Bytes in the caches.", labels: labels,
                    value: Double(bytes)),
                Gauge(
                    name: "halcyon_cache_limit_bytes", help: "Bytes that the caches may have.",
                    labels: labels, value: Double(limit)),
            ]
        }
        gauges += cluster?.gauges ?? []
        gauges.append(
            Gauge(
                name: "halcyon_connections", help: "Connections of clients.",
                value: Double(clients.count)))
        gauges.append(
            Gauge(
                name: "halcyon_vips_memory_bytes", help: "Memory of pixels in libvips.",
                value: Double(Vips.trackedMemory)))
        gauges.append(
            Gauge(
                name: "halcyon_build_info", help: "Versions.",
                labels: [("version", Self.version), ("vips", Vips.version)], value: 1))
        return gauges
    }

    /// That of the package.
    public static let version = "0.1.0"
}
