import Testing

@testable import Halcyon

@Suite struct DelegateTests {
    private final class Target {
        let base: Int
        init(_ base: Int) { self.base = base }
    }

    private let delegate = Delegate<Int, Int>()
    private let target = Target(10)

    @Test func callsItsClosureWithTheTarget() {
        #expect(!delegate.isSet && delegate.call(1) == nil)
        delegate.delegate(on: target) { (target: Target, input: Int) -> Int in target.base + input }
        #expect(delegate.isSet)
        #expect(delegate.call(1) == 11 && delegate(2) == 12)
    }

    @Test func doesNotKeepItsTargetNorCallForOneThatIsGone() {
        weak var remembered: Target?
        do {
            let target = Target(10)
            remembered = target
            delegate.delegate(on: target) { (target: Target, input: Int) -> Int in
                target.base + input
            }
        }
        #expect(remembered == nil)
        #expect(delegate.isSet && delegate.call(1) == nil)
    }

    @Test func awaitsAnAsynchronousClosureOrCallsTheOther() async {
        delegate.delegate(on: target) { (target: Target, input: Int) async -> Int in
            await Task.yield()
            return target.base + input
        }
        #expect(await delegate.callAsync(1) == 11)
        #expect(delegate.call(1) == nil)
        delegate.delegate(on: target) { (target: Target, input: Int) -> Int in
            target.base * input
        }
        #expect(await delegate.callAsync(2) == 20)
    }

    @Test func flattensOptionalOutputs() {
        let delegate = Delegate<Int, Int?>()
        delegate.delegate(on: target) { (target: Target, input: Int) -> Int? in
            input > 0 ? target.base : nil
        }
        let (some, none): (Int?, Int?) = (delegate.call(1), delegate.call(0))
        #expect(some == 10 && none == nil)
    }

    @Test func isCalledWithoutAValueWhereItNeedsNone() {
        let plain = Delegate<Void, Int>()
        #expect(plain.call() == nil && plain() == nil)
        plain.delegate(on: target) { (target: Target, _: Void) -> Int in target.base }
        #expect(plain.call() == 10 && plain() == 10)
        let optional = Delegate<(), Int?>()
        optional.delegate(on: target) { (target: Target, _: Void) -> Int? in target.base }
        let (called, asFunction): (Int?, Int?) = (optional.call(), optional())
        #expect(called == 10 && asFunction == 10)
    }

    @Test func aCopyGoesItsOwnWay() {
        delegate.set { $0 }
        let copy = delegate.copy()
        delegate.set { $0 * 2 }
        #expect(copy.call(3) == 3 && delegate.call(3) == 6)
    }
}
