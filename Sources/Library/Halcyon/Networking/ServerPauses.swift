public import Foundation
import Synchronization

/// Which servers a downloader has been asked to leave alone, and until when.
///
/// Kept in memory, for each origin (scheme, host and port): an answer 429 or 503 begins a pause, an
/// answer below 400 ends it.
final class ServerPauses: Sendable {
    /// The longest time that work which nobody is waiting for waits for a server.
    static let patience: TimeInterval = 60
    /// With more origins than this, those whose pause is over are forgotten.
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

    /// Notes an answer from the server of `url`.
    func note(_ head: AnswerHead, from url: URL) {
        let begins = head.status == 429 || head.status == 503
        guard begins || head.status < 400 else { return }
        let received = now()
        pauses.withLock { pauses in
            // Mostly nobody has asked for a pause.
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
                status: head.status, fields: HTTPFields(head), received: received,
                chance: .random(in: 0...1))
        }
    }

    /// The end of the pause of the server of `url`; `nil` when it has not asked for one.
    func end(for url: URL) -> Date? {
        pauses.withLock { pauses in
            pauses.isEmpty ? nil : pauses[Origin(url)]?.end(at: now())
        }
    }

    /// Waits for the end of the pause of the server of `url`, at most for `patience`.
    ///
    /// - Returns: The end of a pause that is still under way then; `nil` when there is none.
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
    /// Until when the server of `url` has asked to be left alone: by an answer 429 or 503, for its
    /// `Retry-After` (at most five minutes), or without one for 1, 2, 4, … 60 seconds. `nil` when it has
    /// not, the time is over, or it has answered something below 400 since.
    ///
    /// Prefetchers wait for it, a minute at most. Other requests are sent all the same, unless
    /// ``honorsServerPause`` is on.
    public func serverPause(for url: URL) -> Date? {
        serverPauses.end(for: url)
    }
}

extension ImageRequest {
    /// Waits while the server of a network image wants to be left alone: for work that nobody is
    /// waiting for. Returns why the image is not to be loaded.
    func waitForServer() async -> KingfisherError? {
        guard case .network(let resource) = source else { return nil }
        return await waitForServer(of: resource.downloadURL)
    }

    /// The same of the server of `url`, to which the request goes next.
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
