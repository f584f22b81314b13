public import Foundation
import HalcyonWork
import Synchronization

extension ImageDownloader {
    /// Cancels all callers of all downloads.
    public func cancelAll() {
        cancel { _ in true }
    }

    /// Cancels all callers of the downloads of `url`, as it is after the request modifier.
    public func cancel(url: URL) {
        cancel { $0 == url }
    }

    private func cancel(where matches: (URL?) -> Bool) {
        let tickets = downloads.tickets
        let preparing = preparations.withLock { $0.handles.values.filter { matches($0.url) } }
        for (_, handle) in preparing { handle.cancel() }
        for (task, ticket) in tickets where matches(task.originalURL) { task.cancel(ticket.token) }
    }
}
