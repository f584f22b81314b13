import Foundation
import FoundationNetworking
import HalcyonHTTP
import HalcyonWork
import Synchronization

/// One request of a transfer that asks for the rest of what an earlier download has left, and leaves
/// what it has received when it breaks off itself.
///
/// It belongs to one URL: the target of a redirect has a request of its own.
final class ResumableRequest: Sendable {
    /// What an answer means for the transfer.
    enum Answer {
        /// Nothing is known beforehand of its body.
        case fresh
        /// It goes on after these bytes, up to `total`.
        case rest(after: Data, total: Int64)
        /// It is not to be used. The request is to be sent again, and asks for everything then.
        case startOver
    }

    /// How the transfer goes on when an answer has come to its end.
    enum Ending {
        /// The body is whole. An answer that has been put together has this head.
        case whole(AnswerHead?)
        /// The rest of the rest is to be asked for.
        case next
    }

    /// More came than the range has that the answer says.
    struct ExcessBytes: Error {}

    private enum Stage {
        /// Nothing is kept of the answer, or there is none yet.
        case idle
        case asking(KeptPartial, PartialDownload)
        case receiving(Body)
        case ended
    }

    /// The body that is being received, of an answer that can be continued.
    private struct Body {
        var description: KeptPartial.Description
        /// Of a rest: the partial that it continues, the fields it came with, and where it ends.
        var rest: (partial: PartialDownload, fields: HTTPFields, end: Int)?
    }

    private struct State {
        var stage = Stage.idle
        var file: PartialFile
        /// How many of the bytes received are on their way to the file, or there.
        var written = 0
        var isWriting = false
        /// The bytes that were there before the transfer.
        var resumedCount = 0
        var ranges = 0
    }

    /// Parts of a body that are asked for, one after the other, at most.
    private static let rangeLimit = 8
    /// The body is written in pieces of at least so many bytes; a shorter one only when it breaks off.
    private static let blockSize = 256 << 10

    private let plain: URLRequest
    /// The same as the rules of caching see it.
    private let asked: HTTPCacheRequest
    private let policy: HTTPCachePolicy
    private let task: SessionDataTask
    private let partials: PartialDownloads
    private let key: String
    private let maximumSize: Int64
    private let state: Mutex<State>

    /// `nil` when nothing can be kept of the answer to `request`, whatever it is.
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
        // What is for one user leaves nothing in a program for several. Settings of freshness do not
        // matter, and nothing is selected that would need a digest.
        var rules = HTTPCaching.on
        rules.role = caching.role
        policy = HTTPCachePolicy(rules, digest: { $0 })
        state = Mutex(State(file: partials.file(forKey: key)))
    }

    /// The bytes of the body that have not come with this transfer.
    var resumedByteCount: Int { state.withLock { $0.resumedCount } }

    /// The request to send: for the rest, if there is a beginning.
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

    /// Looks for the beginning that an earlier download has left.
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
            removeFile()
        }
    }

    private func ask(for kept: KeptPartial, _ partial: PartialDownload, written: Int) {
        state.withLock {
            $0.stage = .asking(kept, partial)
            $0.written = written
        }
    }

    // MARK: The answer

    /// Decides on an answer that is neither a redirect nor a challenge.
    /// - Throws: `KingfisherError` for a part that nobody has asked for.
    func receive(_ head: AnswerHead) throws -> Answer {
        let fields = HTTPFields(head)
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
            // It has changed between two parts; what came with the first has been used already.
            startOver()
            return .startOver
        case .whole:
            removeFile()
            receiveWhole(head, fields)
            return .fresh
        case .startOver:
            startOver()
            return .startOver
        case .gone:
            removeFile()
            return .fresh
        case .unrelated:
            return .fresh
        }
    }

    /// Has the next request ask for everything.
    func startOver() {
        removeFile()
    }

    private func receiveWhole(_ head: AnswerHead, _ fields: HTTPFields) {
        var fields = fields
        // Of use to nobody later on.
        fields.remove(["set-cookie", "set-cookie2"])
        let description = KeptPartial.Description(
            fields: fields, received: Date(),
            total: head.codings.isEmpty ? head.contentLength : nil)
        let shortest = max(1, partials.resumption.minimumSize)
        guard partial(description, status: head.status, length: shortest) != nil else { return }
        state.withLock { $0.stage = .receiving(Body(description: description)) }
    }

    /// Removes what is there, and begins anew.
    private func removeFile() {
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

    /// Checks that `count` bytes, with those that are going to be taken, are not too many.
    func check(_ count: Int) throws(ExcessBytes) {
        let isTooMuch = state.withLock { state in
            guard case .receiving(let body) = state.stage, let rest = body.rest else {
                return false
            }
            return count > rest.end
        }
        if isTooMuch { throw ExcessBytes() }
    }

    /// Takes note that bytes have come: now and then the new ones go to the file.
    func bytesArrived() {
        // Queued under the lock, so that no later piece comes before.
        let piece: (file: PartialFile, isKept: OneShot<Bool>)? = state.withLock { state in
            let count = task.receivedCount
            guard !state.isWriting, count - state.written >= Self.blockSize,
                case .receiving(let body) = state.stage,
                // What ends now is not needed in a file.
                Int64(count) != body.description.total
            else { return nil }
            state.isWriting = true
            return (state.file, append(task.data(from: state.written), body, &state))
        }
        guard let piece else { return }
        piece.isKept.whenGiven { isKept in
            // Where nothing is kept, nothing more is written.
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

    /// Decides how to go on after the end of an answer.
    /// - Throws: `ImageTransportError` when it has been less than was said.
    func answerEnded() throws -> Ending {
        let count = task.receivedCount
        let stage = state.withLock { $0.stage }
        guard case .receiving(let body) = stage, let rest = body.rest,
            let total = body.description.total
        else {
            // An answer that says nothing of the partial leaves it.
            var isUnrelated = false
            if case .asking = stage { isUnrelated = true }
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

    /// The transfer goes elsewhere: what is there stays.
    func leave() {
        end(removing: false)
    }

    /// The transfer has failed, or was cancelled: what has come stays, if it can be continued.
    func breakOff(_ error: any Error) {
        var isTooLarge = false
        if case .responseTooLarge? = error as? ImageTransportError { isTooLarge = true }
        guard case .receiving(let body) = state.withLock({ $0.stage }) else {
            return end(removing: false)
        }
        let kept = KeptPartial(description: body.description, bytes: task.sharedData)
        let isWorthKeeping =
            partial(
                body.description, status: 200, length: kept.bytes.count,
                minimumSize: partials.resumption.minimumSize) != nil
        guard !isTooLarge, isWorthKeeping else { return end(removing: true) }
        // Before the file is complete: who sees the file finds the beginning.
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
        // Nothing has come that says anything about it.
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
