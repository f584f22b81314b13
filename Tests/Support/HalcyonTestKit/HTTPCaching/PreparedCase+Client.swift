package import Foundation
package import HalcyonHTTP

/// A check that failed.
package struct FailedCheck: Error {
    package var what: String
}

/// The cache between the client and the origin of a case.
package protocol CaseCache {
    /// Whether the client gets the fields of responses; otherwise they are not checked.
    var passesFields: Bool { get }

    /// Answers a request; `step` is what the case says of it. The clock is the origin's. Nothing is under way in the
    /// background afterwards.
    func answer(
        _ request: HTTPCacheRequest, of step: PreparedCase.Step, from origin: inout SimulatedOrigin
    ) async -> SimulatedAnswer
}

extension PreparedCase {
    /// Plays the client against a cache and its origin. Nothing waits: the clock is moved.
    package func failure(with cache: some CaseCache, start: Date) async -> FailedCheck? {
        var run = ClientRun(test: self, cache: cache, start: start)
        do {
            try await run.play()
            try run.checkWhatTheOriginSaw()
            return nil
        } catch {
            return error
        }
    }
}

/// One run of a case.
private struct ClientRun<Cache: CaseCache> {
    let test: PreparedCase
    let cache: Cache
    var origin: SimulatedOrigin
    var answers: [SimulatedAnswer] = []

    init(test: PreparedCase, cache: Cache, start: Date) {
        self.test = test
        self.cache = cache
        origin = SimulatedOrigin(steps: test.requests, token: "token-\(test.id)", now: start)
    }

    mutating func play() async throws(FailedCheck) {
        for (index, step) in test.requests.enumerated() {
            origin.requestNumber = index + 1
            let request = request(step, number: index + 1)
            let answer = await cache.answer(request, of: step, from: &origin)
            answers.append(answer)
            try check(answer, step, number: index + 1)
            if step.pauseAfter == true { origin.now.addTimeInterval(3) }
        }
    }

    private func request(_ step: PreparedCase.Step, number: Int) -> HTTPCacheRequest {
        var text = "http://origin.test/test/\(origin.token)"
        if let filename = step.filename { text += "/\(filename)" }
        if let query = step.queryArg { text += "?\(query)" }
        var fields: HTTPFields = [:]
        for field in step.requestHeaders ?? [] {
            var reference = origin.now
            if step.magicIms == true, let before = answers.last?.serverNow { reference = before }
            let value = field.value(reference: reference, inRFC850: step.rfc850date)
            fields.append(field.name, value)
        }
        fields.append("Test-ID", test.id)
        fields.append("Req-Num", String(number))
        return HTTPCacheRequest(
            method: step.requestMethod ?? "GET", url: URL(string: text)!, fields: fields)
    }

    /// A response as the client sees it.
    private func check(
        _ answer: SimulatedAnswer, _ step: PreparedCase.Step, number: Int
    ) throws(FailedCheck) {
        func require(_ holds: Bool, _ what: String) throws(FailedCheck) {
            guard holds else { throw FailedCheck(what: "request \(number): \(what)") }
        }
        let numbers = (answer.fields.first("Request-Numbers") ?? "").split(separator: " ")
        try require(Set(numbers).count == numbers.count, "retry")

        let count = answer.fields.first("Server-Request-Count").flatMap { Int($0) }
        switch step.expectedType {
        case "cached":
            let isBare304 = count == nil && answer.status == 304
            try require(isBare304 || count.map { $0 < number } ?? false, "expected_type")
        case "not_cached":
            try require(count == number, "expected_type")
        default: break
        }

        if let expected = step.expectedStatus {
            try require(expected.number.map { $0 == answer.status } ?? true, "expected_status")
        } else if let given = step.responseStatus?.first?.number {
            try require(given == answer.status, "expected_status")
        } else if answer.status == 999 {
            try require(false, "expected_type")
        } else {
            try require(answer.status == 200, "expected_status")
        }

        if cache.passesFields {
            for expected in step.expectedResponseHeaders ?? [] {
                try require(answer.has(expected), "expected_response_headers")
            }
            for unwanted in step.expectedResponseHeadersMissing ?? [] {
                let value = answer.fields.combined(unwanted.name)
                let isAbsent = unwanted.rest.first?.text.map { value?.contains($0) != true }
                try require(isAbsent ?? (value == nil), "expected_response_headers_missing")
            }
        }

        if step.checkBody == false { return }
        if let expected = step.expectedResponseText {
            try require(expected.text.map { $0 == answer.body } ?? true, "expected_response_text")
        } else if let body = step.responseBody {
            try require(answer.body == body, "body")
        } else if ![204, 304].contains(answer.status), step.requestMethod != "HEAD" {
            try require(answer.body == origin.token, "body")
        }
    }

    func checkWhatTheOriginSaw() throws(FailedCheck) {
        var next = 0
        for (index, step) in test.requests.enumerated() where step.expectedType != "cached" {
            func require(_ holds: Bool, _ what: String) throws(FailedCheck) {
                guard holds else { throw FailedCheck(what: "origin \(index + 1): \(what)") }
            }
            let note = next < origin.notes.count ? origin.notes[next] : nil
            next += 1
            if step.expectedType == "not_cached" {
                try require(note?.number == index + 1, "expected_type")
            }
            if step.expectedType == "etag_validated" {
                try require(note?.fields.contains("If-None-Match") == true, "expected_type")
            }
            if step.expectedType == "lm_validated" {
                try require(note?.fields.contains("If-Modified-Since") == true, "expected_type")
            }
            for expected in step.expectedRequestHeaders ?? [] {
                let value = note?.fields.combined(expected.name)
                let wanted = expected.rest.first?.text
                try require(
                    value != nil && (wanted == nil || value == wanted), "expected_request_headers")
            }
            let compared = cache.passesFields ? note?.compared.lines ?? [] : []
            for line in compared where line.name.lowercased() != "date" {
                try require(
                    answers[index].fields.combined(line.name)
                        == note?.compared.combined(line.name), "\(line.name) arrives")
            }
            if let method = step.expectedMethod {
                try require(note?.method == method, "expected_method")
            }
        }
    }
}

extension SimulatedAnswer {
    fileprivate var serverNow: Date? {
        fields.first("Server-Now").flatMap { Double($0) }
            .map { Date(timeIntervalSince1970: $0 / 1000) }
    }

    fileprivate func has(_ expected: PreparedField) -> Bool {
        guard let value = fields.combined(expected.name) else { return false }
        switch expected.rest.count {
        case 0: return true
        case 1: return value == expected.value(reference: serverNow ?? .distantPast)
        default:
            // Greater than a number is the only comparison there is.
            guard let number = expected.rest[1].number else { return false }
            return Int(value).map { $0 > number } ?? false
        }
    }
}

extension HTTPFields {
    /// All lines of a name as one value.
    func combined(_ name: String) -> String? {
        contains(name) ? values(name).joined(separator: ", ") : nil
    }
}
