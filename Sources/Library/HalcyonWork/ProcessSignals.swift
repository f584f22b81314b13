import CProcesses
import Dispatch
import Glibc
import Synchronization

/// Signals that the process answers itself instead of ending.
///
/// None is lost: until the moment at which `listen` makes it the process's own, a signal does what it did
/// before, and from then on it is handed over. To ignore a signal first and listen afterwards, which is what
/// Dispatch's sources ask for, loses those that come in between.
package enum ProcessSignals {
    /// Ends when it is cancelled, or when the last reference goes.
    package final class Listening: Sendable {
        private let id: UInt64

        fileprivate init(id: UInt64) {
            self.id = id
        }

        deinit {
            cancel()
        }

        /// Nothing is handed over any more; the signals do not end the process all the same.
        package func cancel() {
            SignalPipe.shared?.remove(id)
        }
    }

    /// Has `handler` called for each of these signals from now on, one after the other, on a queue.
    ///
    /// Where the process has no descriptors left, they do what they did before.
    package static func listen(
        to numbers: [Int32], handler: @escaping @Sendable (Int32) -> Void
    ) -> Listening {
        Listening(id: SignalPipe.shared?.add(numbers, handler) ?? 0)
    }

    /// Whether the process ignores a signal, because whoever started it wants that (`nohup`).
    package static func isIgnored(_ number: Int32) -> Bool { csignals_is_ignored(number) }

    /// `SIGTERM` for 15 and so on; the number for those that programs seldom catch.
    package static func name(of number: Int32) -> String {
        switch number {
        case SIGHUP: "SIGHUP"
        case SIGINT: "SIGINT"
        case SIGTERM: "SIGTERM"
        default: "signal \(number)"
        }
    }
}

/// The pipe that signals are noted in, and who listens.
private final class SignalPipe: @unchecked Sendable {
    // Unchecked: sources of Dispatch may be used on any thread.

    private struct Listener {
        let numbers: Set<Int32>
        let handler: @Sendable (Int32) -> Void
    }

    private struct State {
        var nextID: UInt64 = 1
        var listeners: [UInt64: Listener] = [:]
    }

    /// `nil` when there was no descriptor for it.
    static let shared = SignalPipe()

    private let source: any DispatchSourceRead
    private let state = Mutex(State())

    private init?() {
        let descriptor = csignals_open()
        guard descriptor >= 0 else { return nil }
        let queue = DispatchQueue(label: "halcyon.signals")
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { [unowned self] in read(descriptor) }
        source.resume()
    }

    func add(_ numbers: [Int32], _ handler: @escaping @Sendable (Int32) -> Void) -> UInt64 {
        let id = state.withLock { state in
            defer { state.nextID += 1 }
            state.listeners[state.nextID] = Listener(numbers: Set(numbers), handler: handler)
            return state.nextID
        }
        // After that there is somebody to hear of them.
        for number in numbers { _ = csignals_catch(number) }
        return id
    }

    func remove(_ id: UInt64) {
        state.withLock { _ = $0.listeners.removeValue(forKey: id) }
    }

    private func read(_ descriptor: Int32) {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return }
        for number in bytes[..<count].map(Int32.init) {
            let listeners = state.withLock { state in
                state.listeners.sorted { $0.key < $1.key }.map(\.value)
            }
            for listener in listeners where listener.numbers.contains(number) {
                listener.handler(number)
            }
        }
    }
}
