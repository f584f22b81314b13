import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

struct FrameWindowTests {
    /// Performs loads until there is none left.
    private func settle(
        _ window: inout FrameWindow, _ action: FrameWindow.Action, loads: inout [Int]
    ) {
        var next = action.load
        while let index = next {
            loads.append(index)
            next = window.loaded(index, bytes: 10).load
        }
    }

    @Test func loadsThePresentFrameThenTheNext() {
        var window = FrameWindow(frameCount: 20, bytesPerFrame: 10, budget: 40)
        var loads: [Int] = []
        let (id, action) = window.join(at: 18, lookahead: 10)
        settle(&window, action, loads: &loads)
        #expect(loads == [18, 19, 0, 1])
        loads = []
        settle(&window, window.move(id, to: 18), loads: &loads)
        #expect(loads == [])
        settle(&window, window.move(id, to: 19), loads: &loads)
        #expect(loads == [2])
        #expect(window.held == [19, 0, 1, 2])
    }

    @Test func loadsNoMoreThanTheLookahead() {
        var window = FrameWindow(frameCount: 20, bytesPerFrame: 10, budget: 10_000)
        var loads: [Int] = []
        let (id, action) = window.join(at: 0, lookahead: 3)
        settle(&window, action, loads: &loads)
        #expect(loads == [0, 1, 2, 3])
        settle(&window, window.move(id, to: 2), loads: &loads)
        #expect(loads == [0, 1, 2, 3, 4, 5])
    }

    @Test func keepsAnAnimationThatFits() {
        var window = FrameWindow(frameCount: 8, bytesPerFrame: 10, budget: 80)
        var loads: [Int] = []
        let (id, action) = window.join(at: 0, lookahead: 2)
        settle(&window, action, loads: &loads)
        for step in 1...24 { settle(&window, window.move(id, to: step), loads: &loads) }
        #expect(loads == Array(0..<8))
        #expect(window.held == Set(0..<8))
    }

    @Test func decodesEachFrameOncePerRunOfAnAnimationThatDoesNotFit() {
        var window = FrameWindow(frameCount: 20, bytesPerFrame: 10, budget: 60)
        var loads: [Int] = []
        let (id, action) = window.join(at: 0, lookahead: 10)
        settle(&window, action, loads: &loads)
        for step in 1...59 { settle(&window, window.move(id, to: step), loads: &loads) }
        #expect(loads == (0..<loads.count).map { $0 % 20 })
        #expect(loads.count <= 59 + 6)
    }

    @Test func sharesTheBudgetAmongViewers() {
        var window = FrameWindow(frameCount: 100, bytesPerFrame: 10, budget: 60)
        var loads: [Int] = []
        let (_, first) = window.join(at: 10, lookahead: 10)
        settle(&window, first, loads: &loads)
        let (_, second) = window.join(at: 50, lookahead: 10)
        settle(&window, second, loads: &loads)
        #expect(window.held == [10, 11, 12, 50, 51, 52])
    }

    @Test func lendsFramesToViewersAtTheSamePlace() {
        var window = FrameWindow(frameCount: 100, bytesPerFrame: 10, budget: 60)
        var loads: [Int] = []
        let (a, first) = window.join(at: 0, lookahead: 4)
        settle(&window, first, loads: &loads)
        let (b, second) = window.join(at: 0, lookahead: 4)
        settle(&window, second, loads: &loads)
        for step in 1...50 {
            settle(&window, window.move(a, to: step), loads: &loads)
            settle(&window, window.move(b, to: step), loads: &loads)
        }
        #expect(loads == Array(0...54))
    }

    @Test func letsEachViewerGoOnWhateverTheBudget() {
        var window = FrameWindow(frameCount: 100, bytesPerFrame: 10, budget: 0)
        var loads: [Int] = []
        var viewers: [Int] = []
        for position in [0, 30, 60] {
            let (id, action) = window.join(at: position, lookahead: 10)
            viewers.append(id)
            settle(&window, action, loads: &loads)
        }
        for step in 0..<20 {
            for (viewer, position) in zip(viewers, [0, 30, 60]) {
                settle(&window, window.move(viewer, to: position + step), loads: &loads)
                #expect(window.held.contains(position + step + 1))
            }
            #expect(window.held.count <= 3)
        }
    }

    @Test func purgesWhatNobodyElseWants() {
        var window = FrameWindow(frameCount: 6, bytesPerFrame: 10, budget: 1000)
        var loads: [Int] = []
        let (id, action) = window.join(at: 0, lookahead: 5)
        settle(&window, action, loads: &loads)
        settle(&window, window.move(id, to: 1), loads: &loads)
        #expect(window.purge(id, keepsPresent: true) == .init(dropped: [0, 2, 3, 4, 5]))
        #expect(window.held == [1])
        #expect(window.purge(id, keepsPresent: false) == .init(dropped: [1]))
        settle(&window, window.move(id, to: 1), loads: &loads)
        // The present frame is the viewer's own.
        #expect(window.held == [0, 2, 3, 4, 5])
    }

    @Test func purgesNothingOfAnAnimationThatAnotherViewerPlays() {
        var window = FrameWindow(frameCount: 6, bytesPerFrame: 10, budget: 1000)
        var loads: [Int] = []
        let (a, first) = window.join(at: 0, lookahead: 5)
        settle(&window, first, loads: &loads)
        let (b, second) = window.join(at: 0, lookahead: 5)
        settle(&window, second, loads: &loads)
        #expect(window.purge(a, keepsPresent: true) == .init())
        #expect(window.leave(b).dropped == [1, 2, 3, 4, 5])
    }

    @Test func dropsAFrameThatIsNotWantedAnyMoreWhenItArrives() {
        var window = FrameWindow(frameCount: 100, bytesPerFrame: 10, budget: 50)
        let (id, action) = window.join(at: 0, lookahead: 10)
        #expect(action.load == 0)
        #expect(window.seek(id, to: 50) == .init())
        #expect(window.loaded(0, bytes: 10) == .init(dropped: [0], load: 50))
    }

    @Test func doesNotTryADamagedFrameAgain() {
        var window = FrameWindow(frameCount: 3, bytesPerFrame: 10, budget: 1000)
        let (id, _) = window.join(at: 0, lookahead: 2)
        #expect(window.failed(0).load == 1)
        #expect(window.loaded(1, bytes: 10).load == 2)
        #expect(window.loaded(2, bytes: 10).load == nil)
        #expect(window.move(id, to: 2) == .init())
        #expect(window.failed == [0])
    }

    @Test func holdsFewerFramesWhenTheyAreLargerThanExpected() {
        var window = FrameWindow(frameCount: 100, bytesPerFrame: 10, budget: 100)
        _ = window.join(at: 0, lookahead: 10)
        #expect(window.capacity == 10)
        _ = window.loaded(0, bytes: 30)
        #expect(window.capacity == 3)
    }

    @Test(arguments: 0..<40)
    func neverHoldsMoreThanItsCapacity(seed: UInt64) {
        var random = SeededGenerator(state: seed)
        let count = Int.random(in: 1...60, using: &random)
        let budget = Int.random(in: 0...400, using: &random)
        var window = FrameWindow(frameCount: count, bytesPerFrame: 10, budget: budget)
        var held: Set<Int> = []
        var loading: Int?
        var viewers: [Int] = []

        func check(_ action: FrameWindow.Action) {
            #expect(held.isSuperset(of: action.dropped))
            held.subtract(action.dropped)
            if let load = action.load {
                #expect(loading == nil && !held.contains(load))
                loading = load
            }
            #expect(held == window.held)
            #expect(loading == window.loading)
            // A viewer that leaves may take its share away from a frame that is on its way.
            #expect(held.count <= window.capacity)
        }

        for _ in 0..<400 {
            let position = Int.random(in: 0..<count, using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0 where viewers.count < 4:
                let (id, action) = window.join(
                    at: position, lookahead: Int.random(in: 0...12, using: &random))
                viewers.append(id)
                check(action)
            case 1:
                guard let id = viewers.popLast() else { continue }
                check(window.leave(id))
            case 2:
                guard let id = viewers.randomElement(using: &random) else { continue }
                check(window.purge(id, keepsPresent: Bool.random(using: &random)))
            case 3, 4:
                guard let id = viewers.randomElement(using: &random) else { continue }
                check(window.seek(id, to: position))
            case 5, 6:
                guard let id = viewers.randomElement(using: &random) else { continue }
                check(window.move(id, to: position))
            default:
                guard let index = loading else { continue }
                loading = nil
                if Int.random(in: 0..<10, using: &random) == 0 {
                    check(window.failed(index))
                } else {
                    held.insert(index)
                    check(window.loaded(index, bytes: 10))
                }
            }
        }
    }
}
