public import Dispatch
public import Foundation

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
    /// Inline, on whatever thread the work ended.
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
