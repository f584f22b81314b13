import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import Halcyon

struct DownloadTaskTests {
    private func session(_ left: Recorder<Int>) -> SessionDataTask {
        SessionDataTask(request: URLRequest(url: URL(string: "http://a.example/x")!)) {
            left.record($0)
        }
    }

    @Test func isNotInitialisedUntilItCarriesSomething() {
        let task = DownloadTask()
        #expect(!task.isInitialized && task.sessionTask == nil && task.cancelToken == nil)
        let provider = DownloadTask()
        provider.carryProvider()
        #expect(provider.isInitialized && provider.sessionTask == nil)
        let session = session(Recorder())
        task.link(to: session, token: 3)
        #expect(task.isInitialized && task.sessionTask === session && task.cancelToken == 3)
    }

    @Test func cancelLeavesTheDownloadOnce() {
        let left = Recorder<Int>()
        let task = DownloadTask()
        task.link(to: session(left), token: 7)
        task.cancel()
        task.cancel()
        #expect(left.events == [7])
    }

    @Test func aCancellationBeforeTheLinkIsRemembered() {
        let left = Recorder<Int>()
        let task = DownloadTask()
        task.cancel()
        #expect(task.isCancelled)
        task.link(to: session(left), token: 2)
        #expect(left.events == [2])
    }

    @Test func aChangedPriorityIsToldToTheDownload() {
        let told = Recorder<Float>()
        let task = DownloadTask()
        #expect(task.priority == 0.5)
        let session = SessionDataTask(
            request: URLRequest(url: URL(string: "http://a.example/x")!),
            reprioritized: { _, priority in told.record(priority) })
        task.adopt(0.75)
        task.link(to: session, token: 0)
        #expect(task.priority == 0.75 && told.count == 0)
        task.priority = 0.25
        task.priority = .nan
        #expect(told.events == [0.25, 0.5])
    }

    @Test func aPriorityThatWasSetBeforeTheDownloadIsKept() {
        let told = Recorder<Void>()
        let task = DownloadTask()
        task.priority = 0.1
        task.adopt(0.75)
        #expect(task.priority == 0.1)
        task.link(
            to: SessionDataTask(
                request: URLRequest(url: URL(string: "http://a.example/x")!),
                reprioritized: { _, _ in told.record(()) }),
            token: 0)
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
        #expect(second.isCancelled && third.isCancelled)
        #expect(third.makeSuccessor().isCancelled)
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
