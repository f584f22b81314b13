import Foundation
import NIOCore

/// All that will be sent in answer to one request.
struct ResponsePlan: Sendable {
    /// How the exchange ends.
    enum Ending: Equatable, Sendable {
        /// The message is complete; the connection stays open if the client wants.
        case complete
        /// The message is cut off here.
        case abort(Abort)
    }

    /// Waits before anything is sent.
    var leadIn: [Pause] = []
    var status = 200
    /// With `Content-Length` unless the length is not to be told.
    var headers = HeaderFields()
    /// Whether ``steps`` are sent instead of an HTTP message.
    var isRaw = false
    /// `false` when the connection ends before the header.
    var sendsHead = true
    var steps: BodySteps = .none
    var ending = Ending.complete

    /// The body when it goes out in one piece and nothing has to be waited for.
    var immediateBody: ByteBuffer? {
        guard leadIn.isEmpty, !isRaw, sendsHead, ending == .complete else { return nil }
        return steps.immediate
    }
}

/// What a response waits for.
public enum Pause: Sendable {
    /// A time on the server's clock.
    case duration(Duration)
    /// Until the gate is open.
    case gate(Gate)
}

/// Decides what a response sends to one request. It only decides: nothing is sent here.
struct ResponsePlanner {
    var request: RecordedRequest
    /// How many requests the route has answered before this one.
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
            plan.ending = .abort(how)
            return plan
        }
        if case .raw = response.body.content {
            plan.isRaw = true
            plan.ending = .abort(.close)
            setSteps(&plan, source: source(of: response), behaviours: response.behaviours)
            return plan
        }
        if let denial = denial(response.behaviours) {
            fill(&plan, from: denial)
        } else {
            fill(&plan, from: response)
        }
        return plan
    }

    private func applies(_ times: Int?) -> Bool {
        times.map { ordinal < $0 } ?? true
    }

    /// The answer to a request that is not let in.
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
        var source = source(of: response)
        plan.status = response.status
        plan.headers = response.headers

        for case .encoded(let encoding) in behaviours {
            guard case .bytes(let bytes) = source else { continue }
            source = .bytes(ByteBuffer(bytes: encoding.encode(Array(bytes.readableBytesView))))
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
            source = select(from: source, validators: validators, plan: &plan)
        }
        setFraming(&plan, source: source, behaviours: behaviours)
        guard request.method != "HEAD" else { return }
        setSteps(&plan, source: source, behaviours: behaviours)
    }

    private func source(of response: OriginResponse) -> BodySteps.Source {
        switch response.body.content {
        case .bytes(let bytes), .raw(let bytes): .bytes(bytes)
        case .endless(let piece): .endless(piece)
        }
    }

    /// Narrows the body down to the range the request asks for.
    private func select(
        from source: BodySteps.Source, validators: Validators, plan: inout ResponsePlan
    ) -> BodySteps.Source {
        plan.headers["Accept-Ranges"] = "bytes"
        guard request.method == "GET", let length = source.length,
            let header = request.headers["Range"],
            validators.allowRange(ifRange: request.headers["If-Range"])
        else { return source }
        switch ByteRange(header: header, length: length) {
        case .whole:
            return source
        case .unsatisfiable:
            plan.status = 416
            plan.headers["Content-Range"] = "bytes */\(length)"
            return .bytes(ByteBuffer())
        case .part(let range):
            plan.status = 206
            plan.headers["Content-Range"] =
                "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
            guard case .bytes(let bytes) = source else { return source }
            let start = bytes.readerIndex + range.lowerBound
            return .bytes(bytes.getSlice(at: start, length: range.count) ?? ByteBuffer())
        }
    }

    private func setFraming(
        _ plan: inout ResponsePlan, source: BodySteps.Source, behaviours: [OriginBehaviour]
    ) {
        var length = source.length
        for behaviour in behaviours {
            switch behaviour {
            // A header alone would be followed by the end of the chunks, which HEAD must not have.
            case .chunked where request.method != "HEAD": length = nil
            case .declaredLength(let declared):
                length = declared
                let hasBody = request.method != "HEAD" && ![204, 304].contains(plan.status)
                if hasBody { plan.ending = .abort(.close) }
            default: break
            }
        }
        plan.headers["Content-Length"] = length.map(String.init)
        if length == nil, request.method == "HEAD" { plan.ending = .abort(.close) }
    }

    private func setSteps(
        _ plan: inout ResponsePlan, source: BodySteps.Source, behaviours: [OriginBehaviour]
    ) {
        var steps = BodySteps(source: source)
        for behaviour in behaviours {
            switch behaviour {
            case .slices(let bytes, let pacing):
                steps.sliceLength = max(1, bytes)
                steps.pacing = pacing
            case .hold(let offset, let pause):
                steps.holds.append((offset, pause))
            case .breakOff(let offset, let how, let times) where applies(times):
                steps.limit = min(steps.limit ?? offset, offset)
                plan.ending = .abort(how)
            default: break
            }
        }
        plan.steps = steps
    }
}
