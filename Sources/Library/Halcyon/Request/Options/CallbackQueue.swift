public import Dispatch
public import Foundation
import HalcyonWork

/// A queue of operations that can carry callbacks; `OperationQueue` is one.
public protocol CallbackOperationQueue: AnyObject, Sendable {
    /// The dispatch queue the operations run on, if there is one of its own.
    var underlyingQueue: DispatchQueue? { get }

    /// Runs `block` on the queue.
    func addOperation(_ block: @Sendable @escaping () -> Void)
}

extension OperationQueue: CallbackOperationQueue {}

/// Where a callback runs.
public enum CallbackQueue: Sendable {
    /// Always asynchronously on the main queue.
    case mainAsync
    /// Inline when already on the main queue, otherwise asynchronously on it.
    case mainCurrentOrAsync
    /// Inline, on whatever thread the work ended. Of work that may need the disk or the network, that is
    /// never the calling thread while the call that asked for it runs.
    case untouch
    /// Asynchronously on the given dispatch queue.
    case dispatch(DispatchQueue)
    /// On the given operation queue.
    case operationQueue(any CallbackOperationQueue)

    /// Runs `block` where this queue says.
    public func execute(_ block: @Sendable @escaping () -> Void) {
        switch self {
        case .mainAsync:
            DispatchQueue.main.async(execute: block)
        case .mainCurrentOrAsync:
            if MainQueue.isCurrent {
                block()
            } else {
                DispatchQueue.main.async(execute: block)
            }
        case .untouch:
            block()
        case .dispatch(let queue):
            queue.async(execute: block)
        case .operationQueue(let queue):
            queue.addOperation(block)
        }
    }
}

extension CallbackQueue {
    /// Runs `begin`, which begins work, and calls `handler` on this queue with the value of that work: once,
    /// and after `begin` has returned, however soon the value is there.
    ///
    /// Work that ends at once, or on another thread before the calling one goes on, would otherwise call the
    /// handler within the function it was given to, where a lock that the caller holds is a deadlock. A value
    /// that early is called back on another thread, or later on the main queue.
    ///
    /// - Parameters:
    ///   - isImmediate: Whether the value may be delivered within the call all the same: because it took
    ///     neither the disk nor the network. Never by default.
    ///   - begin: Hands the value over once, on any thread.
    /// - Returns: What `begin` returns.
    @discardableResult
    func deliver<Value: Sendable, R>(
        to handler: (@Sendable (Value) -> Void)?,
        atOnceIf isImmediate: @escaping @Sendable (Value) -> Bool = { _ in false },
        of begin: (_ hand: @escaping @Sendable (Value) -> Void) -> R
    ) -> R {
        guard let handler else { return begin { _ in } }
        let hasReturned = OneShot<Void>()
        defer { hasReturned.give(()) }
        return begin { value in
            if isImmediate(value) || hasReturned.isGiven {
                execute { handler(value) }
            } else {
                hasReturned.whenGiven { executeLater { handler(value) } }
            }
        }
    }

    /// Runs `block` where this queue says, but never within this call.
    fileprivate func executeLater(_ block: @Sendable @escaping () -> Void) {
        switch self {
        case .untouch: DispatchQueue.global().async(execute: block)
        case .mainCurrentOrAsync: Self.mainAsync.execute(block)
        case .mainAsync, .dispatch: execute(block)
        // One of the program's own may run its operations at once.
        case .operationQueue: DispatchQueue.global().async { execute(block) }
        }
    }
}

/// Where the program's own work runs; the same choices as for callbacks.
public typealias ExecutionQueue = CallbackQueue

/// Tells whether the current thread is draining the main queue.
///
/// `Thread.isMainThread` is no answer on Linux: under an `async` `main` or `dispatchMain()` the main
/// queue is drained by another thread. A value specific to the main queue is.
enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var isCurrent: Bool {
        DispatchQueue.getSpecific(key: key) == true
    }
}
