import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import Halcyon

struct DownloadTaskTests {
    private let request = URLRequest(url: URL(string: "http://a.example/x")!)

    @Test func aPriorityThatWasSetBeforeTheDownloadIsKept() {
        let told = Recorder<Void>()
        let task = DownloadTask()
        task.priority = 0.1
        task.adopt(0.75)
        #expect(task.priority == 0.1)
        let session = SessionDataTask(request: request, reprioritized: { _, _ in told.record(()) })
        task.link(to: session, token: 0)
        #expect(told.count == 1)
    }

    @Test func theTaskOfALaterAttemptFollowsTheFirst() {
        let first = DownloadTask()
        first.priority = 0.1
        let second = first.makeSuccessor()
        let third = second.makeSuccessor()
        third.adopt(0.75)
        #expect(third.priority == 0.1)
        first.priority = 0.9
        #expect(third.priority == 0.9)
        first.cancel()
        #expect(second.isCancelled && third.isCancelled && third.makeSuccessor().isCancelled)
    }

    @Test func cancelActionsRunOnceAndLateOnesAtOnce() {
        let events = Recorder<String>()
        let task = DownloadTask()
        task.onCancel { events.record("a") }
        let removed = task.onCancel { events.record("removed") }
        task.onCancel { events.record("b") }
        task.removeCancelAction(removed)
        #expect(events.count == 0)
        task.cancel()
        task.cancel()
        task.onCancel { events.record("late") }
        #expect(events.events == ["a", "b", "late"])
    }
}
