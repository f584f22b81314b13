import Foundation
import FoundationNetworking

@testable import HalcyonHTTP

extension FuzzTarget {
    /// Heads of answers, line by line as libcurl hands them on.
    static let responseHeads = FuzzTarget(
        "response-heads",
        seeds: {
            [
                "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
                    + "HTTP/1.1 200 OK\r\nContent-Length: 5\r\ncontent-length: 5\r\n\r\n",
                "HTTP/2 302\r\nlocation: ../a\r\nSet-Cookie: a=b\r\nset-cookie: c\r\n\r\nTrailer: x",
                "HTTP/1.0 206  X \nContent-Encoding:\tgzip \nContent-Range: bytes 0-1/2\n\n",
                "HTTP/1.1 999 \u{E9}\r\nA : b\r\n folded\r\n: c\r\nno colon\r\nContent-Length: 1, 2\r\n\r\n",
            ].map { Data($0.utf8) }
        }
    ) { data in
        let url = URL(string: "http://example.com/a/b?c")!
        var reader = HeaderReader(method: "GET")
        for line in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let answer = try Array(line).withUnsafeBytes { try reader.take($0, of: url) }
            guard let answer else { continue }
            precondition((200...999).contains(answer.status), "a status of \(answer.status)")
            precondition(!answer.codings.unknown.contains("identity"))
            _ = answer.contentLength
            for name in answer.fields.lines.map(\.name) where name.utf8.allSatisfy({ $0 < 0x80 }) {
                precondition(answer.value(name.lowercased()) != nil, "no value of \(name)")
            }
            let response = try answer.response
            precondition(response.statusCode == answer.status)
            _ = try URLRequest(url: url).redirected(by: response)
        }
    }

    /// Header fields by which a response is kept, used again, renewed and gone on with. Three blocks of
    /// lines: the answer, the request, and the answer to the next request. The first byte chooses the
    /// settings.
    static let headerFields = FuzzTarget(
        "header-fields",
        seeds: {
            [
                "0Cache-Control: max-age=60, stale-while-revalidate=9\nETag: \"a\"\nVary: Accept\n\n"
                    + "Accept: image/*;q=1.0, a\nCache-Control: max-stale\n\nETag: W/\"a\"\nAge: 5",
                "1Date: Sun, 06 Nov 1994 08:49:37 GMT\nExpires: Sunday, 06-Nov-94 09:49:37 GMT\n"
                    + "Last-Modified: Sun Nov  6 07:49:37 1994\n\nIf-None-Match: \"a\", W/\"b\"\n\n"
                    + "Content-Range: bytes 100-199/200\nContent-Length: 100\nContent-Type: a/b;c",
                "2CDN-Cache-Control: max-age=5;a=\"b\", c=(1 \"x\" ?0), d=:YQ==:, e=@1, f=1.5\n"
                    + "Cache-Control: private=\"set-cookie, x\", no-cache=\"a\", s-maxage=\"1\n\n"
                    + "Range: bytes=5-\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\n\n"
                    + "Retry-After: 120\nWWW-Authenticate: Digest realm=\"a\\\"\", nonce=b, qop=\"auth\","
                    + " stale=true, Basic realm=x, Negotiate YQ==\nConnection: close, x",
            ].map { Data($0.utf8) }
        }
    ) { data in
        guard let choice = data.first else { return }
        let blocks = String(decoding: data.dropFirst(), as: UTF8.self).components(
            separatedBy: "\n\n")
        let fields = (0..<3).map { HTTPFields(lines: blocks.count > $0 ? blocks[$0] : "") }
        readEach(of: fields.flatMap(\.lines))
        HeaderJourney(choice, answer: fields[0], request: fields[1], next: fields[2]).run()
    }

    /// Every reader of one field, for every field.
    private static func readEach(of lines: [HTTPFields.Line]) {
        for line in lines {
            let date = HTTPDateParser.date(line.value, now: HeaderJourney.now)
            precondition(date.map { abs($0.timeIntervalSince1970) < 1e12 } ?? true)
            precondition(DeltaSeconds.parse(line.value).map { $0 >= 0 } ?? true)
            if let range = ContentRange(line.value) {
                precondition(range.first >= 0 && range.count > 0)
                precondition(range.total.map { range.last < $0 } ?? true)
            }
            _ = StructuredDictionary(line.value)
            _ = EntityTag(line.value).isStrong
            for challenge in HTTPChallenge.parse(line.value) {
                guard let digest = DigestChallenge(challenge) else { continue }
                _ = digest.answer(
                    user: "u", password: "p", method: "GET", target: "/", count: 1,
                    clientNonce: "c")
            }
        }
    }
}

extension HTTPFields {
    fileprivate init(lines text: String) {
        self.init(
            text.split(separator: "\n").map { line in
                let parts = line.split(
                    separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                return Line(
                    name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
            })
    }
}

/// What becomes of an answer in a cache.
private struct HeaderJourney {
    static let now = Date(timeIntervalSince1970: 1_700_000_000)

    private let policy: HTTPCachePolicy
    private let request: HTTPCacheRequest
    private let answer: HTTPFields
    private let next: HTTPFields
    private let status: Int

    init(_ choice: UInt8, answer: HTTPFields, request: HTTPFields, next: HTTPFields) {
        var caching = choice & 1 == 0 ? HTTPCaching.on : .shared
        caching.targetedFields = ["CDN-Cache-Control"]
        if choice & 2 != 0 { caching.validation = .always }
        if choice & 4 != 0 { caching.staleIfError = .upTo(60) }
        policy = HTTPCachePolicy(caching) { bytes in Array(bytes.prefix(32)) }
        self.request = HTTPCacheRequest(
            method: choice & 8 == 0 ? "GET" : "POST", url: URL(string: "https://a.b/c?d")!,
            fields: request)
        self.answer = answer
        self.next = next
        status = choice & 16 == 0 ? 200 : 404
    }

    func run() {
        let (now, later) = (Self.now, Self.now.addingTimeInterval(100))
        _ = policy.invalidations(after: request, status: status, fields: answer)
        let delay = RetryAfter.delay(status: 503, fields: next, received: now)
        precondition(delay.map { (0...RetryAfter.limit).contains($0) } ?? true)
        continuePartial()
        guard
            case .store(let stored) = policy.storing(
                request, status: status, fields: answer, requested: now, received: now)
        else { return }
        let freshness = policy.freshness(of: stored)
        precondition(freshness.lifetime >= 0 && freshness.initialAge >= 0)
        _ = policy.usableWithoutDecision(stored)
        _ = policy.rememberedUntil(stored)
        _ = policy.answersWithRemembered(stored, request, now: later)
        _ = freshness.age(at: later)
        _ = policy.usesStale(stored, for: request, after: .noAnswer, now: later)
        let selection = policy.select(request, among: [stored])
        precondition(
            selection == .response(stored, index: 0), "an answer is not found for its own request")
        _ = policy.decide(request, with: selection, now: later)
        let freshened = policy.freshen(
            stored, with: next, for: request, requested: later, received: later)
        if case .keep(let renewed) = freshened {
            precondition(policy.matches(renewed, request), "a renewed answer is lost")
        }
    }

    private func continuePartial() {
        let partial = policy.partial(
            of: request, status: 200, fields: answer, received: Self.now, length: 100, total: nil,
            minimumSize: 1, maximumSize: 1 << 40)
        guard let partial else { return }
        if case .append(let count, let total) = partial.answer(status: 206, fields: next) {
            precondition(count > 0 && partial.length + count <= total)
        }
        _ = partial.fields(completedBy: next)
    }
}
