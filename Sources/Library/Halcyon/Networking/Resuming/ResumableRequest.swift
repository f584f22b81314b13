import Foundation
import FoundationNetworking
import HalcyonWork
import Synchronization

/// A request of a transfer that asks for the rest of an interrupted download, and keeps the
/// received part if it is interrupted itself.
///
/// It belongs to one URL: the target of a redirect has a request of its own.
final class ResumableRequest: Sendable {
    enum Answer {
        /// None of its body has been received before.
        case fresh
        /// The body continues after these bytes, up to `total`.
        case rest(after: Data, total: Int64)
        /// The response is unusable. The request must be sent again, for the complete body.
        case startOver
    }

    /// The continuation of the transfer after the end of a response.
    enum Ending {
        /// The body is complete. A response assembled from parts has this head.
        case whole(AnswerHead?)
        /// The next part must be requested.
        case next
    }

    /// The body is longer than the range in the response header.
    struct ExcessBytes: Error {}

    private enum Stage {
        /// No response yet, or one that is not kept.
        case idle
        case asking(KeptPartial, PartialDownload)
        case receiving(Body)
        case ended
    }

    /// The body being received, of a resumable response.
    private struct Body {
        var description: KeptPartial.Description
        /// For a range: the partial it continues, the fields of its response, and its end.
        var rest: (partial: PartialDownload, fields: HTTPFields, end: Int)?
    }

    private struct State {
        var stage = Stage.idle
        var file: PartialFile
        /// The number of received bytes that are in the file or queued for it.
        var written = 0
        var isWriting = false
        /// The number of bytes from before the transfer.
        var resumedCount = 0
        var ranges = 0
    }

    /// The maximum number of consecutive range requests for one body.
    private static let rangeLimit = 8
    /// The minimum size of a write, in bytes; only an interruption writes less.
    private static let blockSize = 256 << 10

    private let plain: URLRequest
    /// The plain request, in the form of the caching rules.
    private let asked: HTTPCacheRequest
    private let policy: HTTPCachePolicy
    private let task: SessionDataTask
    private let partials: PartialDownloads
    private let key: String
    private let maximumSize: Int64
    private let state: Mutex<State>

    /// `nil` if no response to `request` could be kept.
    init?(
        _ request: URLRequest, task: SessionDataTask, settings: DownloaderSettings,
        normalizer: CacheKeyNormalizer?, caching: HTTPCaching
    ) {
        guard let partials = settings.partials, let url = request.url, request.httpBody == nil
        else { return nil }
        asked = HTTPCacheRequest(request, to: url)
        guard PartialDownload.canResume(asked) else { return nil }
        plain = request
        self.task = task
        self.partials = partials
        maximumSize = settings.client.maximumResponseSize.map { Int64($0) } ?? .max
        key = ResponseKey.key(url: url, normalizer: normalizer, partition: caching.partition)
        // Responses for one user leave nothing in a program for several. Freshness settings have no
        // effect here, and no selection needs a digest.
        var rules = HTTPCaching.on
        rules.role = caching.role
        policy = HTTPCachePolicy(rules, digest: { $0 })
        state = Mutex(State(file: partials.file(forKey: key)))
    }

    /// The number of body bytes that this transfer has not received itself.
    var resumedByteCount: Int { state.withLock { $0.resumedCount } }

    /// The request to send: for the rest, if a beginning is stored.
    var request: URLRequest {
        let partial: PartialDownload? = state.withLock { state in
            if case .asking(_, let partial) = state.stage { partial } else { nil }
        }
        guard let partial else { return plain }
        var request = plain
        for field in partial.requestFields.lines {
            request.setValue(field.value, forHTTPHeaderField: field.name)
        }
        return request
    }

    /// Looks for the beginning left by an earlier download.
    func findPartial() async {
        let file = state.withLock { $0.file }
        if let recent = partials.takeRecent(key), let partial = partial(of: recent) {
            ask(for: recent, partial, written: await file.resume(recent.bytes))
        } else if let content = await file.content() {
            if let description = KeptPartial.Description(content.description) {
                let kept = KeptPartial(description: description, bytes: content.bytes)
                if let partial = partial(of: kept) {
                    return ask(for: kept, partial, written: kept.bytes.count)
                }
            }
            startOver()
        }
    }

    private func ask(for kept: KeptPartial, _ partial: PartialDownload, written: Int) {
        state.withLock {
            $0.stage = .asking(kept, partial)
            $0.written = written
        }
    }

    // MARK: The answer

    /// Decides on a response that is neither a redirect nor a challenge.
    /// - Throws: `KingfisherError` for an unrequested partial response.
    func receive(_ head: AnswerHead) throws -> Answer {
        let fields = head.fields
        guard case .asking(let kept, let partial) = state.withLock({ $0.stage }) else {
            if head.status == 206 {
                throw KingfisherError.responseError(
                    reason: .invalidHTTPStatusCode(response: try head.response))
            }
            receiveWhole(head, fields)
            return .fresh
        }
        switch partial.answer(status: head.status, fields: fields) {
        case .append(let count, let total):
            var description = kept.description
            description.total = total
            let body = Body(
                description: description, rest: (partial, fields, kept.bytes.count + Int(count)))
            state.withLock {
                $0.stage = .receiving(body)
                if $0.ranges == 0 { $0.resumedCount = kept.bytes.count }
                $0.ranges += 1
            }
            return .rest(after: kept.bytes, total: total)
        case .whole where state.withLock({ $0.ranges }) > 0:
            // The image has changed between two parts; bytes of the first have been used already.
            startOver()
            return .startOver
        case .whole:
            startOver()
            receiveWhole(head, fields)
            return .fresh
        case .startOver:
            startOver()
            return .startOver
        case .gone:
            startOver()
            return .fresh
        case .unrelated:
            return .fresh
        }
    }

    private func receiveWhole(_ head: AnswerHead, _ fields: HTTPFields) {
        var fields = fields
        // Not needed later.
        fields.remove(["set-cookie", "set-cookie2"])
        let description = KeptPartial.Description(
            fields: fields, received: Date(),
            total: head.codings.isEmpty ? head.contentLength : nil)
        let shortest = max(1, partials.resumption.minimumSize)
        guard partial(description, status: head.status, length: shortest) != nil else { return }
        state.withLock { $0.stage = .receiving(Body(description: description)) }
    }

    /// Removes the partial: the next request asks for everything.
    func startOver() {
        let file = state.withLock { state in
            let file = state.file
            state.stage = .idle
            state.file = partials.file(forKey: key)
            (state.written, state.isWriting, state.resumedCount) = (0, false, 0)
            return file
        }
        file.remove()
    }

    // MARK: The body

    /// Checks that a total of `count` bytes does not exceed the range.
    func check(_ count: Int) throws(ExcessBytes) {
        let isTooMuch = state.withLock { state in
            guard case .receiving(let body) = state.stage, let rest = body.rest else {
                return false
            }
            return count > rest.end
        }
        if isTooMuch { throw ExcessBytes() }
    }

    /// Notes that bytes have arrived; once there are enough, the new ones are written to the file.
    func bytesArrived() {
        // Queued under the lock, so that no later piece comes before.
        let piece: (file: PartialFile, isKept: OneShot<Bool>)? = state.withLock { state in
            let count = task.receivedCount
            guard !state.isWriting, count - state.written >= Self.blockSize,
                case .receiving(let body) = state.stage,
                // A complete body needs no file.
                Int64(count) != body.description.total
            else { return nil }
            state.isWriting = true
            return (state.file, append(task.data(in: state.written..<count), body, &state))
        }
        guard let piece else { return }
        piece.isKept.whenGiven { isKept in
            // After a failed write, nothing more is written.
            guard isKept else { return }
            let isCurrent = self.state.withLock { state in
                guard state.file === piece.file else { return false }
                state.isWriting = false
                return true
            }
            // More may have come meanwhile.
            if isCurrent { self.bytesArrived() }
        }
    }

    private func append(_ bytes: Data, _ body: Body, _ state: inout State) -> OneShot<Bool> {
        let start = state.written
        state.written += bytes.count
        return state.file.append(bytes, at: start, description: body.description.text)
    }

    /// Decides how to continue after the end of a response.
    /// - Throws: `ImageTransportError` if the response was shorter than announced.
    func answerEnded() throws -> Ending {
        let count = task.receivedCount
        let stage = state.withLock { $0.stage }
        guard case .receiving(let body) = stage, let rest = body.rest,
            let total = body.description.total
        else {
            // A response unrelated to the partial leaves it in place.
            let isUnrelated = if case .asking = stage { true } else { false }
            end(removing: !isUnrelated)
            return .whole(nil)
        }
        if Int64(count) == total {
            end(removing: true)
            let fields = rest.partial.fields(completedBy: rest.fields)
            return .whole(
                plain.url.map { url in
                    AnswerHead(
                        url: url, status: 200, version: task.head?.version ?? "HTTP/1.1",
                        fields: fields)
                })
        }
        let kept = KeptPartial(description: body.description, bytes: task.sharedData)
        guard count == rest.end, state.withLock({ $0.ranges }) < Self.rangeLimit,
            let partial = partial(of: kept)
        else {
            throw ImageTransportError.incompleteBody(
                url: plain.url?.absoluteString ?? "", received: Int64(count), expected: total)
        }
        state.withLock { $0.stage = .asking(kept, partial) }
        return .next
    }

    // MARK: The end

    /// Ends this request because the transfer is redirected; the partial stays.
    func leave() {
        end(removing: false)
    }

    /// Ends this request after a failure or cancellation; the received bytes are kept if they can
    /// be resumed.
    func breakOff(_ error: any Error) {
        let isTooLarge =
            if case .responseTooLarge? = error as? ImageTransportError { true } else { false }
        guard case .receiving(let body) = state.withLock({ $0.stage }) else {
            return end(removing: false)
        }
        let kept = KeptPartial(description: body.description, bytes: task.sharedData)
        let isWorthKeeping =
            partial(
                body.description, status: 200, length: kept.bytes.count,
                minimumSize: partials.resumption.minimumSize) != nil
        guard !isTooLarge, isWorthKeeping else { return end(removing: true) }
        // Before the file is complete: callers that see the file also find the beginning.
        partials.keepRecent(kept, forKey: key)
        state.withLock { state in
            guard state.written < kept.bytes.count else { return }
            let rest = kept.bytes.subdata(in: state.written..<kept.bytes.count)
            _ = append(rest, body, &state)
            // The last piece.
            state.stage = .idle
        }
        end(removing: false)
    }

    private func end(removing: Bool) {
        let (file, stage) = state.withLock { state in
            defer { state.stage = .ended }
            return (state.file, state.stage)
        }
        if removing { return file.remove() }
        file.close()
        // No response has concerned the partial.
        if case .asking(let kept, _) = stage { partials.keepRecent(kept, forKey: key) }
    }

    // MARK: Rules

    private func partial(of kept: KeptPartial) -> PartialDownload? {
        partial(kept.description, status: 200, length: kept.bytes.count)
    }

    private func partial(
        _ description: KeptPartial.Description, status: Int, length: Int, minimumSize: Int = 1
    ) -> PartialDownload? {
        var asked = asked
        if let credentials = task.credentials {
            asked.fields.set("Authorization", to: credentials)
        }
        return policy.partial(
            of: asked, status: status, fields: description.fields,
            received: description.received, length: Int64(length), total: description.total,
            minimumSize: Int64(minimumSize), maximumSize: maximumSize)
    }
}
