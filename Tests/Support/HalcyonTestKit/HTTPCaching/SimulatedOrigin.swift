package import Foundation
package import HalcyonHTTP

/// A response with its content.
package struct SimulatedAnswer: Sendable {
    package var status: Int
    package var fields: HTTPFields
    package var body: String

    package init(status: Int, fields: HTTPFields = [:], body: String = "") {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

/// The server of a prepared case, and the clock of everybody who takes part.
package struct SimulatedOrigin: Sendable {
    /// A request as the origin has seen it.
    struct Note: Sendable {
        var number: Int
        var method: String
        var fields: HTTPFields
        /// The fields of its answer that are to arrive unchanged.
        var compared: HTTPFields
    }

    let steps: [PreparedCase.Step]
    package let token: String
    package var now: Date
    /// The number of the client's request under way, which begins with 1: requests to the origin are made for it.
    var requestNumber = 1
    private(set) var notes: [Note] = []
    /// The fields sent last for each request, by its number.
    private var sent: [Int: HTTPFields] = [:]

    init(steps: [PreparedCase.Step], token: String, now: Date) {
        self.steps = steps
        self.token = token
        self.now = now
    }

    /// `nil` when it closes the connection without a word.
    mutating func answer(_ request: HTTPCacheRequest, _ fields: HTTPFields) -> SimulatedAnswer? {
        let number = requestNumber
        let step = steps[number - 1]
        now.addTimeInterval(TimeInterval(step.responsePause ?? 0))
        let status = status(of: step, number: number, fields)
        var path = request.url.path
        if let query = request.url.query { path += "?" + query }

        var answer: HTTPFields = [
            "Server-Base-Url": path, "Server-Request-Count": String(notes.count + 1),
            "Client-Request-Count": String(number),
            "Server-Now": String(Int(now.timeIntervalSince1970 * 1000)),
        ]
        var compared: HTTPFields = [:]
        var converted: HTTPFields = [:]
        for field in step.responseHeaders ?? [] {
            var value = field.value(reference: now, inRFC850: step.rfc850date)
            let isLocation = ["location", "content-location"].contains(field.name.lowercased())
            if step.magicLocations == true, isLocation {
                value = value.isEmpty ? path : "\(path)/\(value)"
            }
            answer.append(field.name, value)
            converted.append(field.name, value)
            if field.isCompared { compared.append(field.name, value) }
        }
        if !answer.contains("Content-Type") { answer.append("Content-Type", "text/plain") }
        sent[number] = converted
        notes.append(
            Note(number: number, method: request.method, fields: fields, compared: compared))
        answer.append("Request-Numbers", notes.map { String($0.number) }.joined(separator: " "))
        if step.disconnect == true { return nil }
        let hasBody = ![204, 304].contains(status) && request.method != "HEAD"
        return SimulatedAnswer(
            status: status, fields: answer, body: hasBody ? step.responseBody ?? token : "")
    }

    /// A step that expects a condition gets 304 for the right one and 999 for any other.
    private func status(of step: PreparedCase.Step, number: Int, _ fields: HTTPFields) -> Int {
        guard step.expectedType?.hasSuffix("validated") == true else {
            return step.responseStatus?.first?.number ?? 200
        }
        // What was never sent cannot hold dates, and stands as it is written.
        let before =
            sent[number - 1]
            ?? HTTPFields(
                (steps[number - 2].responseHeaders ?? []).map {
                    HTTPFields.Line(name: $0.name, value: $0.rest.first?.text ?? "")
                })
        let matches = [("If-Modified-Since", "Last-Modified"), ("If-None-Match", "ETag")]
            .contains { condition, validator in
                let expected = before.values(validator).last
                return expected != nil && fields.first(condition) == expected
            }
        return matches ? 304 : 999
    }
}

extension OriginServer {
    /// Has the origin of a case answer requests for `path`. What it waits for passes for the cache, too, whose clock
    /// `setClock` sets.
    package func route(
        _ path: String, to origin: SimulatedOrigin,
        _ response: @escaping @Sendable (SimulatedAnswer) -> OriginResponse,
        setClock: @escaping @Sendable (Date) -> Void
    ) -> Locked<SimulatedOrigin> {
        let shared = Locked(origin)
        setClock(origin.now)
        route(path) { received in
            let fields = HTTPFields(
                received.headers.fields.map { .init(name: $0.name, value: $0.value) })
            let asked = HTTPCacheRequest(
                // NIO forgets the hyphen.
                method: received.method == "MSEARCH" ? "M-SEARCH" : received.method,
                url: URL(string: "http://origin.test\(received.target)")!, fields: fields)
            return shared.withLock { origin in
                let answer = origin.answer(asked, fields)
                setClock(origin.now)
                return answer.map(response) ?? .abort()
            }
        }
        return shared
    }
}
