import Foundation
import Testing

@testable import Vips

@Suite struct OpenCallsTests {
    private let calls = OpenCalls()

    @Test func theEndDoesNotWaitForCallsThatAreOver() {
        #expect(calls.enter())
        calls.leave()
        calls.close(waitingAtMost: .max)
    }

    @Test func theEndWaitsForACallUnderWay() async {
        #expect(calls.enter())
        let flag = Flag()
        let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
        Thread.detachNewThread { [calls] in
            calls.close(waitingAtMost: .max)
            answer.yield(flag.isSet)
        }
        // Calls are refused as soon as the end has begun to wait.
        while calls.enter() {
            calls.leave()
            await Task.yield()
        }
        flag.set()
        calls.leave()
        var iterator = answers.makeAsyncIterator()
        #expect(await iterator.next() == true)
    }

    @Test func theEndComesWhenPatienceIsOver() {
        #expect(calls.enter())
        calls.close(waitingAtMost: 3)
        #expect(!calls.enter())
    }
}
