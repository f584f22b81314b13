import Foundation
import HalcyonPixels
import HalcyonServerURLs
import HalcyonTelemetry
import HalcyonWork
import NIOCore
import NIOFoundationCompat
import Tracing

/// The work from the bytes of a source to a picture. Blocks; belongs on the decoding pool.
protocol PictureWork: Sendable {
    /// Whether the encoder may be multithreaded, of which fewer may run than there are decoders.
    var mayUseThreadsOfEncoder: Bool { get }
    /// The kind of work, one of a few; work of one kind takes about equally long.
    var kind: String { get }

    /// - Parameters:
    ///   - deadline: The end of the last waiter's patience, if known.
    ///   - isWanted: Returns whether a caller still waits; called before each step.
    func run(
        _ data: Data, by deadline: ContinuousClock.Instant?,
        isWanted: @escaping @Sendable () -> Bool
    ) throws(Failure) -> PlanExecution.Product
}

extension PictureWork {
    var mayUseThreadsOfEncoder: Bool { false }
}

/// Makes pictures, each once for all callers that want it, and caches them.
struct PictureMaker: Sendable {
    struct Made: Sendable {
        enum Place: String, Sendable { case memory, disk, shared, made }

        let picture: MadePicture
        let place: Place
        /// The cache key; `nil` when the picture is not cached.
        let key: String?
        /// Whether the work was shared with another request.
        var isShared = false
        /// The source's generation among servers; see ``FoundSource/sharedGeneration``.
        var sourceGeneration: Int64?
        /// `nil` unless the picture was just made.
        var product: PlanExecution.Product?
        var sourceBytes: Int?
        var stages: [(name: String, duration: Duration)] = []
    }

    let sources: SourceFinder
    let results: ResultCache
    let gates: WorkGates
    let failures: KnownFailures
    /// `nil` when nothing is shared with other servers.
    let cluster: Cluster?
    let metrics: ServerMetrics
    let spans: SpanScope
    let time: TimeSource
    private let work = SharedTasks<String, Made>()
    private let runs = DecodingRuns()

    /// The source and the work of a picture; `key` names both.
    struct Order: Sendable {
        let key: String
        let source: FoundSource
        let origin: PictureOrigin
        let work: any PictureWork
        let isStorable: Bool
        /// The time after which nobody waits for it.
        let deadline: ContinuousClock.Instant
        private let tag: @Sendable (_ validator: String) -> String

        /// - Parameters:
        ///   - plan: The canonical text of the plan.
        ///   - tag: Names the result for a version of the source, which may change until it is read.
        init(
            source: FoundSource, plan: String,
            tag: @escaping @Sendable (_ validator: String) -> String,
            work: any PictureWork, isStorable: Bool, by deadline: ContinuousClock.Instant
        ) {
            key = Self.key(source, tag)
            origin = PictureOrigin(source: source.key, url: source.url, plan: plan)
            self.source = source
            self.work = work
            self.isStorable = isStorable
            self.deadline = deadline
            self.tag = tag
        }

        /// The name of the work among all that is under way.
        var workName: String { "\(key) \(source.version)" }

        /// Returns the key of the same work on another version, `source`.
        func key(of source: FoundSource) -> String { Self.key(source, tag) }

        var sharedName: SharedPictureName { SharedPictureName(origin, tag: tag("")) }

        private static func key(
            _ source: FoundSource, _ tag: (_ validator: String) -> String
        ) -> String {
            Digest.sha256.hexadecimal("r2\n\(source.key)\n\(tag(source.validator))")
        }
    }

    func picture(_ order: Order, until ending: Ending) async throws(Failure) -> Made {
        if let picture = remembered(order) {
            return Made(picture: picture, place: .memory, key: order.key)
        }
        if let failure = failures[order.key] {
            metrics.noteCache("result", tier: "memory", "negative")
            throw failure
        }
        let start = time.now
        var (outcome, isShared) = await shared(order, until: ending)
        if isShared, case .failure(let failure) = outcome, failure.kind == .deadline,
            !ending.isGiven
        {
            // Another request, which has waited longer, had too little time left.
            (outcome, isShared) = await shared(order, until: ending)
        }
        // The work itself belongs to the trace of the request that began it.
        if isShared { spans.note("halcyon.shared", from: start) }
        var made = try outcome.get()
        made.isShared = isShared
        return made
    }

    /// Returns the picture of an order from memory, unless this request has just got it from
    /// another server, which counts as its first use.
    private func remembered(_ order: Order) -> MadePicture? {
        guard order.isStorable, order.source.glance?.found?.key != order.key,
            let picture = results.remembered(order.key)
        else { return nil }
        metrics.noteCache("result", tier: "memory", "hit")
        if picture.isUnwritten, results.keepOnDisk(picture, during: order.source.visit) {
            sources.keepOnDisk(order.source)
        }
        return picture
    }

    private func shared(
        _ order: Order, until ending: Ending
    ) async -> (outcome: Result<Made, Failure>, isShared: Bool) {
        await work.value(
            for: order.workName, until: ending,
            failure: { [runs] in runs.failure($0, of: order.workName) },
            onSharing: { metrics.noteCollapsed("result") }
        ) { stopped in
            await Result { () async throws(Failure) in try await foundOrMade(order, stopped) }
        }
    }

    private func foundOrMade(_ order: Order, _ stopped: Ending) async throws(Failure) -> Made {
        // Another server has published it together with its source.
        if let found = order.source.glance?.found, found.key == order.key, order.isStorable {
            metrics.noteCache("result", tier: "shared", "hit")
            let isWritten = results.keep(
                found.picture, found.data, for: order.key, of: order.origin,
                during: order.source.visit)
            if isWritten { sources.keepOnDisk(order.source) }
            return Made(picture: found.picture, place: .shared, key: order.key)
        }
        // Another request may have been faster since the lookup in memory.
        if let picture = results.remembered(order.key) {
            return Made(picture: picture, place: .memory, key: order.key)
        }
        let stored = await results.stored(order.key, of: order.origin, during: order.source.visit)
        if let picture = stored {
            metrics.noteCache("result", tier: "disk", "hit")
            return Made(picture: picture, place: .disk, key: order.key)
        }
        metrics.noteCache("result", tier: "disk", "miss")
        guard let cluster, order.isStorable else { return try await make(order, stopped) }
        let made = try await cluster.picture(
            order.key, as: order.sharedName, after: order.source.glance, until: stopped,
            source: { self.sources.sharedHead(of: order.source) },
            keep: { picture, data in
                results.keep(
                    picture, data, for: order.key, of: order.origin, during: order.source.visit)
            },
            making: {
                await Result { () async throws(Failure) in try await make(order, stopped) }
            })
        metrics.noteCache("result", tier: "shared", made.place == .shared ? "hit" : "miss")
        return made
    }

    private func make(_ order: Order, _ stopped: Ending) async throws(Failure) -> Made {
        let start = time.now
        let (data, source) = try await sources.bytes(of: order.source, until: stopped)
        let fetched = metrics.noteStage("fetch", since: start)
        let (result, waited, begun) = try await run(order, on: data, stopped)
        noteSpans(of: result, since: begun)
        if stopped.isGiven, case .failure = result { metrics.cancelled.add(["decode"]) }
        let key = source.validator == order.source.validator ? order.key : order.key(of: source)
        if case .failure(let failure) = result {
            failures.note(failure, for: key) { order.source.isPurged(order.origin) }
        }
        let product = try result.get()
        note(product, data)
        // The next one may have more time.
        let isStorable = order.isStorable && !product.isSubstitute
        let picture = MadePicture(
            key: key, body: ByteBuffer(data: product.data), format: product.format,
            origin: isStorable ? order.origin : nil, isTruncated: product.isTruncated)
        if isStorable {
            results.keep(
                picture, product.data, for: key, of: order.origin, during: order.source.visit)
        }
        // After a purge it is for the present waiters only, not for other servers.
        let isShareable =
            isStorable && !order.source.isPurged(order.origin) && !product.isTruncated
        return Made(
            picture: picture, place: .made, key: isShareable ? key : nil,
            sourceGeneration: source.sharedGeneration, product: product,
            sourceBytes: data.count,
            stages: [
                ("queue", waited), ("fetch", fetched), ("decode", product.decoding),
                ("encode", product.encoding),
            ])
    }

    /// Does the work in its turn, unless less time is left than work usually takes.
    private func run(
        _ order: Order, on data: Data, _ stopped: Ending
    ) async throws(Failure) -> (
        Result<PlanExecution.Product, Failure>, waited: Duration, begun: ContinuousClock.Instant
    ) {
        let (work, deadline) = (order.work, order.deadline)
        let queued = time.now
        let (encoders, decoders) = (gates.encoders, gates.decoders)
        // Waiting for an encoder keeps no other work from decoding.
        let encoder = work.mayUseThreadsOfEncoder ? try await encoders.enter(by: deadline) : nil
        defer { if let encoder { encoders.leave(encoder) } }
        if encoder != nil {
            spans.note("halcyon.queue", from: queued, ["halcyon.gate": .string(encoders.name)])
        }
        let next = time.now
        let place = try await decoders.enter(kind: work.kind, by: deadline)
        defer { decoders.leave(place) }
        let waited = metrics.noteStage("queue_decode", since: queued)
        spans.note("halcyon.queue", from: next, ["halcyon.gate": .string(decoders.name)])
        let begun = queued + waited
        // Work that did not have to wait has all the time there is.
        if place.hasWaited || encoder?.hasWaited == true,
            begun + decoders.expectedHold(of: work.kind) > deadline
        {
            throw Failure(.deadline, "There is too little time left for the picture")
        }
        let result = await runs.run(
            order.workName, until: stopped, whenLong: { decoders.leave(place) }
        ) { () throws(Failure) in
            try work.run(data, by: deadline, isWanted: { !stopped.isGiven })
        }
        return (result, waited, begun)
    }

    /// Decoding and processing are one pass over the pixels, and one span.
    private func noteSpans(
        of result: Result<PlanExecution.Product, Failure>, since start: ContinuousClock.Instant
    ) {
        let end = time.now
        guard case .success(let product) = result else {
            spans.note("halcyon.decode", from: start, to: end, failed: true)
            return
        }
        let decoded = end - product.encoding
        spans.note(
            "halcyon.decode", from: decoded - product.decoding, to: decoded,
            [
                "halcyon.source.format": .string(product.sourceFormat.name),
                "halcyon.pixels": .int64(Int64(product.sourceSize.pixelCount * product.frameCount)),
            ])
        spans.note(
            "halcyon.encode", from: decoded, to: end,
            [
                "halcyon.result.format": .string(product.format.name),
                "halcyon.pixels": .int64(Int64(product.size.pixelCount * product.frameCount)),
            ])
    }

    private func note(_ product: PlanExecution.Product, _ data: Data) {
        let input = product.sourceFormat.name
        metrics.stages.observe(product.decoding.inSeconds, ["decode"])
        metrics.stages.observe(product.encoding.inSeconds, ["encode"])
        metrics.pictures.add([input, product.format.name])
        metrics.sourceBytes.observe(Double(data.count), [input])
        metrics.pixels.add(["in"], Double(product.sourceSize.pixelCount * product.frameCount))
        metrics.pixels.add(["out"], Double(product.size.pixelCount * product.frameCount))
    }
}

extension ImageFormat {
    /// The name in metrics and the log.
    var name: String { OutputFormat(self)?.rawValue ?? "unknown" }
}
