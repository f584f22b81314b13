import HalcyonHTTP
import HalcyonServerURLs
import HalcyonWork

/// Takes orders to make pictures before they are requested.
struct WarmHandler: Sendable {
    let warming: WarmUp
    /// Answers the requests for the pictures.
    let route: Route
    /// The token that clients need, if any.
    let secret: String?
    let state: ServerState
    let gates: WorkGates
    let time: TimeSource

    typealias Route =
        @Sendable (ServerRequest, inout AnswerNotes) async throws(Failure) -> ServerAnswer

    /// The maximum number of URLs in an order.
    private static let mostURLs = 10_000

    private struct Order: Decodable {
        let urls: [String]
        /// The `Accept` fields, for each of which a picture is made; `*/*` without it.
        var accept: [String]?
    }

    /// Has pictures made one by one, while no other requests wait; answers with the id of the job.
    func answer(_ request: ServerRequest) async throws(Failure) -> ServerAnswer {
        let order: Order = try await request.order(limit: 32 << 20)
        let accepts = order.accept ?? ["*/*"]
        guard (1...Self.mostURLs).contains(order.urls.count), (1...20).contains(accepts.count)
        else {
            throw Failure(
                .badRequest, "An order has 1 to \(Self.mostURLs) urls, and accept up to 20 texts")
        }
        let items = order.urls.flatMap { url in
            accepts.map { WarmUp.Item(target: url, accept: $0) }
        }
        guard let id = warming.take(items, work: make) else {
            throw Failure(.busy, "Too many orders wait")
        }
        return try .json(["id": id], status: 202)
    }

    func progress(of id: Substring) throws(Failure) -> ServerAnswer {
        guard let progress = warming.progress(of: id) else {
            throw Failure(.notFound, "There is no such job")
        }
        return try .json(progress)
    }

    /// Makes one picture; returns the code of its failure.
    @Sendable private func make(_ item: WarmUp.Item) async -> String? {
        await waitForTurn()
        guard state.phase == .ready else { return ServerFailure.draining.code }
        var fields: HTTPFields = ["Accept": item.accept]
        if let secret { fields.append("Authorization", "Bearer \(secret)") }
        let request = ServerRequest(
            method: "GET", target: item.target, fields: fields, peer: nil, start: time.now)
        return await state.underWay(request) {
            var notes = AnswerNotes()
            do throws(Failure) {
                let answer = try await route(request, &notes)
                if notes.route == "other" { return ServerFailure.notFound.code }
                // A fallback image counts as a failure, too.
                if let failure = notes.failure { return failure.kind.code }
                return answer.status < 400 ? nil : "\(answer.status)"
            } catch {
                return error.kind.code
            }
        }
    }

    /// Waits until no requests wait for their places, or the server stops.
    private func waitForTurn() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await gates.untilFree() }
            group.addTask { await state.wait(until: .draining) }
            await group.next()
            group.cancelAll()
        }
    }
}
