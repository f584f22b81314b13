public import Foundation
import Synchronization

/// The servers that have asked a downloader to pause, with the end of each pause.
///
/// Kept in memory for each origin (scheme, host and port): a response with status 429 or 503 begins
/// a pause, one below 400 ends it. Not a `WorkTable`: it delays different requests, and shares none.
final class ServerPauses: Sendable {
    /// The longest time that background work waits for a server, in seconds.
    static let patience: TimeInterval = 60
    /// Beyond this number of origins, expired pauses are removed.
    private static let mostOrigins = 256

    private let pauses = Mutex<[Origin: FailurePause]>([:])
    private let now: @Sendable () -> Date
    private let sleep: @Sendable (TimeInterval) async throws -> Void

    init(
        now: @escaping @Sendable () -> Date = { Date() },
        sleep: @escaping @Sendable (TimeInterval) async throws -> Void = {
            try await Task.sleep(for: .seconds($0))
        }
    ) {
        self.now = now
        self.sleep = sleep
    }

    func note(_ head: AnswerHead, from url: URL) {
        let begins = head.status == 429 || head.status == 503
        guard begins || head.status < 400 else { return }
        let received = now()
        pauses.withLock { pauses in
            // Usually there are no pauses.
            guard begins || !pauses.isEmpty else { return }
            let origin = Origin(url)
            guard begins else {
                pauses[origin] = nil
                return
            }
            if pauses.count >= Self.mostOrigins {
                pauses = pauses.filter { $0.value.end(at: received) != nil }
            }
            pauses[origin, default: FailurePause(.serverPause)].noteAnswer(
                status: head.status, fields: head.fields, received: received,
                chance: .random(in: 0...1))
        }
    }

    /// Returns the end of the pause for the server of `url`; `nil` if there is none.
    func end(for url: URL) -> Date? {
        pauses.withLock { pauses in
            pauses.isEmpty ? nil : pauses[Origin(url)]?.end(at: now())
        }
    }

    /// Waits for the end of the pause for the server of `url`, at most for `patience`.
    ///
    /// - Returns: The end of a pause that lasts longer; `nil` if there is none.
    /// - Throws: `CancellationError`.
    func wait(for url: URL) async throws -> Date? {
        let deadline = now().addingTimeInterval(Self.patience)
        while let end = end(for: url) {
            let left = min(end, deadline).timeIntervalSince(now())
            guard left > 0 else { return end }
            try await sleep(left)
        }
        return nil
    }
}

extension ImageDownloader {
    /// Returns the end of the pause that the server of `url` has asked for: with a status of 429 or
    /// 503, for its `Retry-After` (at most five minutes), or without one for 1, 2, 4, … 60 seconds.
    /// `nil` if there was no such response, the time is over, or a response below 400 has arrived
    /// since.
    ///
    /// Prefetchers wait for it, a minute at most. Other requests are sent nevertheless, unless
    /// ``honorsServerPause`` is on.
    public func serverPause(for url: URL) -> Date? {
        serverPauses.end(for: url)
    }
}

extension ImageRequest {
    /// Waits for the end of the pause for a network image's server: for background work. Returns
    /// the reason not to load the image, if any.
    func waitForServer() async -> KingfisherError? {
        guard case .network(let resource) = source else { return nil }
        return await waitForServer(of: resource.downloadURL)
    }

    /// Waits for the end of the pause for the server of `url`, the next target of the request.
    func waitForServer(of url: URL) async -> KingfisherError? {
        let downloader = downloader
        guard downloader.serverPause(for: url) != nil else { return nil }
        let waiting = Task { try await downloader.serverPauses.wait(for: url) }
        let action = handle.onCancel { waiting.cancel() }
        defer { handle.removeCancelAction(action) }
        do {
            guard let end = try await waiting.value else { return nil }
            return .transport(
                ImageTransportError.pausedByServer(url: url.absoluteString, until: end))
        } catch {
            return cancellation
        }
    }
}
