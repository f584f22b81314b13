public import Foundation
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
        let (tickets, preparing) = downloads.withLock {
            ($0.table.tickets, $0.preparing.values.filter { matches($0.url) }.map(\.handle))
        }
        for handle in preparing { handle.cancel() }
        for (task, ticket) in tickets where matches(task.originalURL) { task.cancel(ticket.token) }
    }
}
