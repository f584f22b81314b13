package import HalcyonWork
import Synchronization

/// The pending changes of a cache's disk.
///
/// Changes of one file are done in order, those of different files concurrently. A change of
/// everything is a barrier: it waits for all changes before it, and all after it wait. Reading a
/// file waits for the changes of that file only.
///
/// Not a `WorkTable`, which does equal work once: here each change of a file is done, in order.
package final class DiskOperations: Sendable {
    package enum Scope: Sendable {
        case file(String)
        case everything
    }

    private struct Operation: Sendable {
        let id: Int
        let isDone = OneShot<Void>()
    }

    private struct State {
        var nextID = 0
        /// The last change of each file since `barrier`.
        var files: [String: Operation] = [:]
        /// The last change of everything.
        var barrier: Operation?

        func last(concerning file: String) -> Operation? { files[file] ?? barrier }

        var all: [Operation] { Array(files.values) + (barrier.map { [$0] } ?? []) }

        /// Adds a change; returns its predecessors, for which it has to wait.
        mutating func add(_ scope: Scope) -> (Operation, after: [Operation]) {
            let operation = Operation(id: nextID)
            nextID += 1
            switch scope {
            case .file(let file):
                let former = last(concerning: file)
                files[file] = operation
                return (operation, former.map { [$0] } ?? [])
            case .everything:
                let former = all
                files = [:]
                barrier = operation
                return (operation, former)
            }
        }

        mutating func remove(_ id: Int, scope: Scope) {
            if case .file(let file) = scope, files[file]?.id == id { files[file] = nil }
            if barrier?.id == id { barrier = nil }
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Begins a change when its predecessors are done: before returning if there are none.
    ///
    /// - Parameter begin: Only begins the change, without blocking; it calls `finish` once, on any thread,
    ///   when the change is done.
    /// - Returns: The argument of `finish`.
    package func enqueue<T: Sendable>(
        _ scope: Scope,
        beginning begin: @escaping @Sendable (_ finish: @escaping @Sendable (T) -> Void) -> Void
    ) -> OneShot<T> {
        let result = OneShot<T>()
        let (operation, predecessors) = state.withLock { $0.add(scope) }
        let start: @Sendable () -> Void = { [self] in
            begin { value in
                self.state.withLock { $0.remove(operation.id, scope: scope) }
                result.give(value)
                operation.isDone.give(())
            }
        }
        if predecessors.isEmpty {
            start()
        } else {
            let undone = Countdown(predecessors.count, then: start)
            for predecessor in predecessors { predecessor.isDone.whenGiven { undone.countDown() } }
        }
        return result
    }

    package func enqueue<T: Sendable>(
        _ scope: Scope, _ operation: @escaping @Sendable () async -> T
    ) -> OneShot<T> {
        enqueue(scope) { finish in
            Task { finish(await operation()) }
        }
    }

    package var isIdle: Bool { state.withLock { $0.all.isEmpty } }

    /// The pending change that a read of a file waits for; `nil` for none.
    package func pending(_ file: String) -> OneShot<Void>? {
        state.withLock { $0.last(concerning: file)?.isDone }
    }

    /// Waits for all changes requested until now.
    package func finishAll() async {
        for operation in state.withLock({ $0.all }) { await operation.isDone.value }
    }
}

private final class Countdown: Sendable {
    private let left: Atomic<Int>
    private let action: @Sendable () -> Void

    init(_ count: Int, then action: @escaping @Sendable () -> Void) {
        left = Atomic(count)
        self.action = action
    }

    func countDown() {
        if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { action() }
    }
}

/// The threads for blocking disk work. Reading and writing have their own: a write never delays a read.
package enum DiskLane {
    /// For looking up and reading cached files.
    package static let reading = ThreadPool(name: "disk reading", width: 4)
    /// For writing, removing and cleaning.
    package static let writing = ThreadPool(name: "disk writing", width: 2)
}
