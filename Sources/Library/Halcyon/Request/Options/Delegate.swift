import Synchronization

/// A callback slot that holds its target weakly: a closure set on an object that is gone is not called.
///
/// Setting a closure replaces the one before.
public class Delegate<Input, Output>: @unchecked Sendable {
    // Unchecked because the closures are not known to be `Sendable`; whoever sets them decides where
    // they may run. The slot itself is behind a mutex.

    private struct Slot: @unchecked Sendable {
        // Unchecked for the same reason.
        var block: ((Input) -> Output?)?
        var asyncBlock: ((Input) async -> Output?)?
    }

    private let slot = Mutex(Slot())

    public init() {}

    /// Whether a closure has been set (its target may be gone).
    public var isSet: Bool {
        let slot = slot.withLock { $0 }
        return slot.block != nil || slot.asyncBlock != nil
    }

    /// Sets the closure; it is given `target`, which is not kept alive. `nil` unsets it.
    public func delegate<T: AnyObject>(on target: T, block: ((T, Input) -> Output)?) {
        set(block.map { block in { [weak target] input in target.map { block($0, input) } } })
    }

    /// Sets an asynchronous closure; it is given `target`, which is not kept alive. `nil` unsets it.
    public func delegate<T: AnyObject>(on target: T, block: ((T, Input) async -> Output)?) {
        let asyncBlock = block.map { block in
            { [weak target] (input: Input) async -> Output? in
                guard let target else { return nil }
                return await block(target, input)
            }
        }
        store(Slot(asyncBlock: asyncBlock))
    }

    /// Calls the closure; `nil` when none is set, it is asynchronous, or its target is gone.
    public func call(_ input: Input) -> Output? {
        slot.withLock { $0 }.block?(input)
    }

    /// Calls the closure; see `call(_:)`.
    public func callAsFunction(_ input: Input) -> Output? {
        call(input)
    }

    /// Calls the asynchronous closure, or else the synchronous one.
    public func callAsync(_ input: Input) async -> Output? {
        let slot = slot.withLock { $0 }
        if let asyncBlock = slot.asyncBlock { return await asyncBlock(input) }
        return slot.block?(input)
    }

    func set(_ block: ((Input) -> Output?)?) {
        store(Slot(block: block))
    }

    func copy() -> Delegate {
        let copy = Delegate()
        copy.store(slot.withLock { $0 })
        return copy
    }

    private func store(_ new: Slot) {
        // The old closure is released after the lock: it may own what has a `deinit`.
        _ = slot.withLock { slot in
            defer { slot = new }
            return slot
        }
    }
}

/// An optional type.
public protocol OptionalProtocol {
    /// No value.
    static var absent: Self { get }
}

extension Optional: OptionalProtocol {
    public static var absent: Wrapped? { nil }
}

extension Delegate where Output: OptionalProtocol {
    /// Calls the closure; `nil` when it gives that, none is set, or its target is gone.
    public func call(_ input: Input) -> Output {
        let output: Output? = call(input)
        return output ?? .absent
    }

    /// Calls the closure; see `call(_:)`.
    public func callAsFunction(_ input: Input) -> Output {
        call(input)
    }

    /// Calls the asynchronous closure, or else the synchronous one; see `call(_:)`.
    public func callAsync(_ input: Input) async -> Output {
        let output: Output? = await callAsync(input)
        return output ?? .absent
    }
}

extension Delegate where Input == Void {
    /// Calls the closure, which needs no value; see `call(_:)`.
    public func call() -> Output? {
        call(())
    }

    /// Calls the closure; see `call(_:)`.
    public func callAsFunction() -> Output? {
        call()
    }
}

extension Delegate where Input == Void, Output: OptionalProtocol {
    /// Calls the closure, which needs no value; `nil` when it gives that, none is set, or its target is gone.
    public func call() -> Output {
        call(())
    }

    /// Calls the closure; see `call(_:)`.
    public func callAsFunction() -> Output {
        call()
    }
}
