import Synchronization

/// The changes of a cache's disk that are still to be done.
///
/// Changes of one file are done in the order they were asked for, those of different files at once. A
/// change of everything waits for all before it and lets all after it wait. Reading a file waits for
/// the changes of that file only.
final class DiskOperations: Sendable {
    /// What a change concerns.
    enum Scope: Sendable {
        case file(String)
        case everything
    }

    /// Returns when a change is done.
    typealias Completion = @Sendable () async -> Void

    private struct Operation {
        let id: Int
        let completion: Completion
    }

    private struct State {
        var nextID = 0
        /// The last change of each file since `barrier`.
        var files: [String: Operation] = [:]
        /// The last change of everything.
        var barrier: Operation?

        func last(concerning file: String) -> Operation? { files[file] ?? barrier }

        var all: [Operation] { Array(files.values) + (barrier.map { [$0] } ?? []) }

        mutating func add(_ operation: Operation, scope: Scope) {
            switch scope {
            case .file(let file):
                files[file] = operation
            case .everything:
                files = [:]
                barrier = operation
            }
        }

        mutating func remove(_ id: Int, scope: Scope) {
            if case .file(let file) = scope, files[file]?.id == id { files[file] = nil }
            if barrier?.id == id { barrier = nil }
        }
    }

    private let state = Mutex(State())

    /// Does `operation` when those before it are done.
    func enqueue<T: Sendable>(
        _ scope: Scope, _ operation: @escaping @Sendable () async -> T
    ) -> Task<T, Never> {
        state.withLock { state in
            let predecessors: [Operation] =
                switch scope {
                case .file(let file): state.last(concerning: file).map { [$0] } ?? []
                case .everything: state.all
                }
            let id = state.nextID
            state.nextID += 1
            let task = Task {
                for predecessor in predecessors { await predecessor.completion() }
                let result = await operation()
                self.state.withLock { $0.remove(id, scope: scope) }
                return result
            }
            state.add(Operation(id: id) { _ = await task.value }, scope: scope)
            return task
        }
    }

    /// Whether no change is still to be done.
    var isIdle: Bool { state.withLock { $0.all.isEmpty } }

    /// What reading a file has to wait for; `nil` for nothing.
    func pending(_ file: String) -> Completion? {
        state.withLock { $0.last(concerning: file)?.completion }
    }

    /// Waits for all changes asked for until now.
    func finishAll() async {
        for operation in state.withLock({ $0.all }) { await operation.completion() }
    }
}
