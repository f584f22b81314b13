import Foundation
import HalcyonCluster
import HalcyonStorage
import HalcyonWork
import Synchronization

/// Which purges that servers have told each other of have been carried out here: a file beside the caches, so that
/// after a restart only later ones are.
final class HeardPurges: Sendable {
    private struct State {
        /// Those that were begun, in the order in which they were told, up to the first that is not over.
        var begun: [(place: MessagePlace, isOver: Bool)] = []
        /// All up to this one are over.
        var last: MessagePlace?
    }

    private let file: URL
    /// Names the Redis: another one counts for itself.
    private let log: String
    private let state: Mutex<State>

    /// - Parameter directory: That of the caches.
    init(in directory: URL, log: String) {
        file = directory.appendingPathComponent("heard-purges")
        self.log = log
        // Without it all that are known are carried out again.
        let lines = (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n") ?? []
        let isSame = lines.count == 2 && lines[1] == log
        state = Mutex(State(last: isSame ? MessagePlace(lines[0]) : nil))
    }

    /// Up to which all are over.
    var last: MessagePlace? { state.withLock { $0.last } }

    /// Takes note of one that has come, after those before it.
    func begin(_ place: MessagePlace) { state.withLock { $0.begun.append((place, false)) } }

    /// Takes note that one has been carried out; the file says so afterwards, once those before it are over.
    func end(_ place: MessagePlace) async {
        let isNews = state.withLock { state in
            guard let index = state.begun.firstIndex(where: { $0.place == place }) else {
                return false
            }
            state.begun[index].isOver = true
            let over = state.begun.prefix { $0.isOver }
            guard let last = over.last else { return false }
            state.begun.removeFirst(over.count)
            state.last = last.place
            return true
        }
        guard isNews else { return }
        await DiskLane.writing.run { [self] in
            guard let last else { return }
            // A folder that cannot be written has no caches that a purge could have missed.
            try? Data("\(last.text)\n\(log)\n".utf8).write(to: file, options: .atomic)
        }
    }
}
