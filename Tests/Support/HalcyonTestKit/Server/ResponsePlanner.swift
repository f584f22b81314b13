import Foundation
import NIOCore

/// The complete plan of the response to one request.
struct ResponsePlan: Sendable {
    /// The pauses before anything is sent.
    var leadIn: [Pause] = []
    var status = 200
    /// The header fields, with `Content-Length` unless the length is withheld.
    var headers = HeaderFields()
    /// Whether ``steps`` are sent instead of an HTTP message.
    var isRaw = false
    /// `false` when the connection ends before the header.
    var sendsHead = true
    var steps: BodySteps = .none
    /// The premature end of the message; `nil` if it is complete.
    var abort: Abort?

    /// The body, if it is sent in one piece and without pauses.
    var immediateBody: ByteBuffer? {
        guard leadIn.isEmpty, !isRaw, sendsHead, abort == nil else { return nil }
        return steps.immediate
    }
}

public enum Pause: Sendable {
    case duration(Duration)
    case gate(Gate)
}

/// Plans the response to one request, without sending anything.
struct ResponsePlanner {
    var request: RecordedRequest
    /// The number of earlier requests of the route.
    var ordinal: Int
    /// The server's nonce for `Digest` authentication.
    var nonce: String

    func plan(_ response: OriginResponse) -> ResponsePlan {
        var plan = ResponsePlan()
        plan.leadIn = response.behaviours.compactMap { behaviour in
            if case .wait(let pause) = behaviour { pause } else { nil }
        }
        for case .abort(let how, let times) in response.behaviours where applies(times) {
            plan.sendsHead = false
            plan.abort = how
            return plan
        }
        if case .raw = response.body {
            plan.isRaw = true
            plan.abort = .close
            setSteps(&plan, response.body, response.behaviours)
            return plan
        }
        fill(&plan, from: denial(response.behaviours) ?? response)
        return plan
    }

    private func applies(_ times: Int?) -> Bool { times.map { ordinal < $0 } ?? true }

    /// Returns the 401 response to an unauthorised request; `nil` for others.
    private func denial(_ behaviours: [OriginBehaviour]) -> OriginResponse? {
        let authorization = request.headers["Authorization"]
        for behaviour in behaviours {
            switch behaviour {
            case .basicAuthentication(let credentials, let realm):
                let pair = Data("\(credentials.user):\(credentials.password)".utf8)
                if authorization != "Basic \(pair.base64EncodedString())" {
                    return .status(401).header("WWW-Authenticate", "Basic realm=\"\(realm)\"")
                }
            case .digestAuthentication(let credentials, let realm, let algorithm):
                let challenge = DigestChallenge(
                    credentials: credentials, realm: realm, algorithm: algorithm, nonce: nonce)
                let isAccepted = challenge.accepts(
                    authorization ?? "", method: request.method, target: request.target)
                if !isAccepted {
                    return .status(401).header("WWW-Authenticate", challenge.header)
                }
            default: break
            }
        }
        return nil
    }

    private func fill(_ plan: inout ResponsePlan, from response: OriginResponse) {
        let behaviours = response.behaviours
        var body = response.body
        plan.status = response.status
        plan.headers = response.headers

        for case .encoded(let encoding) in behaviours {
            guard case .data(let bytes) = body else { continue }
            body = .data(Data(encoding.packed(Array(bytes))))
            plan.headers["Content-Encoding"] = encoding.rawValue
        }
        let validators = Validators(behaviours)
        validators.addFields(to: &plan.headers)
        if response.status == 200, validators.match(request) {
            plan.status = 304
            return
        }
        let isRanged = behaviours.contains { if case .ranges = $0 { true } else { false } }
        if isRanged, response.status == 200 {
            body = select(from: body, validators: validators, plan: &plan)
        }
        setFraming(&plan, body, behaviours)
        if request.method != "HEAD" { setSteps(&plan, body, behaviours) }
    }

    /// Narrows the body down to the requested range.
    private func select(
        from body: OriginBody, validators: Validators, plan: inout ResponsePlan
    ) -> OriginBody {
        plan.headers["Accept-Ranges"] = "bytes"
        guard request.method == "GET", case .data(let bytes) = body,
            let header = request.headers["Range"],
            validators.allowRange(ifRange: request.headers["If-Range"])
        else { return body }
        switch ByteRange(header: header, length: bytes.count) {
        case .whole: return body
        case .unsatisfiable:
            plan.status = 416
            plan.headers["Content-Range"] = "bytes */\(bytes.count)"
            return .empty
        case .part(let part):
            plan.status = 206
            plan.headers["Content-Range"] =
                "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(bytes.count)"
            return .data(bytes.dropFirst(part.lowerBound).prefix(part.count))
        }
    }

    private func setFraming(
        _ plan: inout ResponsePlan, _ body: OriginBody, _ behaviours: [OriginBehaviour]
    ) {
        var length = body.length
        for behaviour in behaviours {
            switch behaviour {
            // A header alone would be followed by the end of the chunks, which HEAD must not have.
            case .chunked where request.method != "HEAD": length = nil
            case .declaredLength(let declared):
                length = declared
                let hasBody = request.method != "HEAD" && ![204, 304].contains(plan.status)
                if hasBody { plan.abort = .close }
            default: break
            }
        }
        plan.headers["Content-Length"] = length.map(String.init)
        if length == nil, request.method == "HEAD" { plan.abort = .close }
    }

    private func setSteps(
        _ plan: inout ResponsePlan, _ body: OriginBody, _ behaviours: [OriginBehaviour]
    ) {
        var steps = BodySteps(body)
        for behaviour in behaviours {
            switch behaviour {
            case .slices(let bytes, let pacing):
                steps.sliceLength = max(1, bytes)
                steps.pacing = pacing
            case .hold(let offset, let pause):
                steps.holds.append((offset, pause))
            case .breakOff(let offset, let how, let times) where applies(times):
                steps.limit = min(steps.limit ?? offset, offset)
                plan.abort = how
            default: break
            }
        }
        plan.steps = steps
    }
}

/// The range of bytes that a `Range` field asks for (RFC 9110, section 14.1.2).
public enum ByteRange: Equatable, Sendable {
    /// The whole body: the field is malformed, of another unit, or has several ranges.
    case whole
    case part(Range<Int>)
    /// The range selects no byte of the body.
    case unsatisfiable

    public init(header: String, length: Int) {
        self = .whole
        guard let match = header.wholeMatch(of: /[Bb][Yy][Tt][Ee][Ss]=([0-9]*)-([0-9]*)/) else {
            return
        }
        switch (Int(match.1), Int(match.2)) {
        case (nil, let count?) where match.1.isEmpty:
            let isEmpty = count == 0 || length == 0
            self = isEmpty ? .unsatisfiable : .part(max(0, length - count)..<length)
        case (let first?, nil) where match.2.isEmpty:
            self = first < length ? .part(first..<length) : .unsatisfiable
        case (let first?, let last?) where first <= last:
            self = first < length ? .part(first..<min(last, length - 1) + 1) : .unsatisfiable
        default: break
        }
    }
}

/// The validator of a response and the conditions of a request (RFC 9110, section 13).
struct Validators {
    private var entityTag: String?

    init(_ behaviours: [OriginBehaviour]) {
        for case .entityTag(let tag) in behaviours { entityTag = tag }
    }

    func addFields(to headers: inout HeaderFields) {
        if let entityTag { headers["ETag"] = entityTag }
    }

    /// Whether the client has the current version already.
    func match(_ request: RecordedRequest) -> Bool {
        let tags = request.headers.values("If-None-Match")
        guard let entityTag else { return false }
        return tags.flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .contains { $0 == "*" || Self.opaque($0) == Self.opaque(entityTag) }
    }

    /// Whether a range may be sent: a strong match, or no condition.
    func allowRange(ifRange: String?) -> Bool {
        ifRange.map { $0.hasPrefix("\"") && $0 == entityTag } ?? true
    }

    /// The tag without the mark of weakness, which `If-None-Match` does not mind.
    private static func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    }
}
