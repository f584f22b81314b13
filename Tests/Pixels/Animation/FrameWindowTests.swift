import Testing

@testable import Halcyon
@testable import HalcyonPixels

struct FrameWindowTests {
    @Test func loadsThePresentFrameThenTheNext() {
        var window = SettledWindow(frameCount: 20, budget: 40)
        let id = window.join(at: 18, lookahead: 10)
        #expect(window.loads == [18, 19, 0, 1])
        window.loads = []
        window.move(id, to: 18)
        #expect(window.loads == [])
        window.move(id, to: 19)
        #expect(window.loads == [2] && window.held == [19, 0, 1, 2])
    }

    @Test func loadsNoMoreThanTheLookahead() {
        var window = SettledWindow(frameCount: 20, budget: 10_000)
        let id = window.join(at: 0, lookahead: 3)
        #expect(window.loads == [0, 1, 2, 3])
        window.move(id, to: 2)
        #expect(window.loads == [0, 1, 2, 3, 4, 5])
    }

    @Test func keepsAnAnimationThatFits() {
        var window = SettledWindow(frameCount: 8, budget: 80)
        let id = window.join(at: 0, lookahead: 2)
        for step in 1...24 { window.move(id, to: step) }
        #expect(window.loads == Array(0..<8) && window.held == Set(0..<8))
    }

    @Test func decodesEachFrameOncePerRunOfAnAnimationThatDoesNotFit() {
        var window = SettledWindow(frameCount: 20, budget: 60)
        let id = window.join(at: 0, lookahead: 10)
        for step in 1...59 { window.move(id, to: step) }
        #expect(window.loads == (0..<window.loads.count).map { $0 % 20 })
        #expect(window.loads.count <= 59 + 6)
    }

    @Test func sharesTheBudgetAmongViewers() {
        var window = SettledWindow(frameCount: 100, budget: 60)
        window.join(at: 10, lookahead: 10)
        window.join(at: 50, lookahead: 10)
        #expect(window.held == [10, 11, 12, 50, 51, 52])
    }

    @Test func lendsFramesToViewersAtTheSamePlace() {
        var window = SettledWindow(frameCount: 100, budget: 60)
        let a = window.join(at: 0, lookahead: 4)
        let b = window.join(at: 0, lookahead: 4)
        for step in 1...50 {
            window.move(a, to: step)
            window.move(b, to: step)
        }
        #expect(window.loads == Array(0...54))
    }

    @Test func letsEachViewerGoOnWhateverTheBudget() {
        var window = SettledWindow(frameCount: 100, budget: 0)
        let viewers = [0, 30, 60].map { window.join(at: $0, lookahead: 10) }
        for step in 0..<20 {
            for (viewer, position) in zip(viewers, [0, 30, 60]) {
                window.move(viewer, to: position + step)
                #expect(window.held.contains(position + step + 1))
            }
            #expect(window.held.count <= 3)
        }
    }

    @Test func purgesNothingOfAnAnimationThatAnotherViewerPlays() {
        var window = SettledWindow(frameCount: 6, budget: 1000)
        let a = window.join(at: 0, lookahead: 5)
        let b = window.join(at: 0, lookahead: 5)
        #expect(window.window.purge(a, keepsPresent: true) == .init())
        #expect(window.window.leave(b).dropped == [1, 2, 3, 4, 5])
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
}

/// A window whose loads are performed until there is none left.
private struct SettledWindow {
    var window: FrameWindow
    var loads: [Int] = []
    var held: Set<Int> { window.held }

    init(frameCount: Int, budget: Int) {
        window = FrameWindow(frameCount: frameCount, bytesPerFrame: 10, budget: budget)
    }

    @discardableResult
    mutating func join(at position: Int, lookahead: Int) -> FrameWindow.ViewerID {
        let (id, action) = window.join(at: position, lookahead: lookahead)
        settle(action)
        return id
    }

    mutating func move(_ id: FrameWindow.ViewerID, to position: Int) {
        let action = window.move(id, to: position)
        settle(action)
    }

    private mutating func settle(_ action: FrameWindow.Action) {
        var next = action.load
        while let index = next {
            loads.append(index)
            next = window.loaded(index, bytes: 10).load
        }
    }
}
