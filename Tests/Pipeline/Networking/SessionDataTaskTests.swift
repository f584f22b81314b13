import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import Halcyon

struct SessionDataTaskTests {
    private let task = SessionDataTask(
        request: URLRequest(url: URL(string: "http://a.example/x")!))

    private func append(_ bytes: [UInt8], limit: Int? = nil) -> Int? {
        bytes.withUnsafeBytes { task.append($0, limit: limit) }
    }

    private func address(_ data: Data) -> UnsafeRawPointer? {
        data.withUnsafeBytes { $0.baseAddress }
    }

    private let long = [UInt8](repeating: 1, count: 4096)

    /// Upstream: testSessionDataTaskMutableDataGetterDoesNotShareStorage
    @Test func mutableDataIsAnIndependentCopyEachTime() {
        _ = append(long)
        let (first, second) = (task.mutableData, task.mutableData)
        #expect(first == Data(long) && second == first)
        #expect(address(first) != address(second))
    }

    /// Upstream: testSessionDataTaskSharedDataIsZeroCopyAndUnaffectedByLaterAppends
    @Test func sharedDataIsNotCopiedAndUnaffectedByLaterAppends() {
        _ = append(long)
        let (first, second) = (task.sharedData, task.sharedData)
        #expect(address(first) == address(second))
        #expect(append([2, 3]) == 4098)
        #expect(first == Data(long))
        #expect(task.sharedData == Data(long + [2, 3]))
    }

    @Test func nothingIsAppendedBeyondTheLimit() {
        #expect(append([1, 2, 3], limit: 4) == 3 && append([4, 5], limit: 4) == nil)
        #expect(task.sharedData == Data([1, 2, 3]) && append([4], limit: 4) == 4)
    }

    @Test func aTransferCancelledBeforeItRunsNeverRuns() async {
        let ran = Recorder<Bool>()
        task.stop()
        task.run { ran.record(true) }
        #expect(task.isTransferCancelled && ran.count == 0)
    }

    /// Upstream: testSessionDataTaskConcurrentAccessIsThreadSafe
    @Test func concurrentUseIsSafe() async {
        let task = task
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<50 {
                group.addTask {
                    _ = [UInt8(index)].withUnsafeBytes { task.append($0, limit: nil) }
                    _ = task.mutableData
                    if index == 25 { task.stop() }
                    task.run {}
                }
            }
        }
        #expect(Set(task.sharedData) == Set(0..<50))
    }
}
