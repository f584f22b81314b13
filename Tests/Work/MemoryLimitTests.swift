import Foundation
import HalcyonTestKit
import Testing

@testable import HalcyonWork

@Suite struct MemoryLimitTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private var limit: UInt64 {
        MemoryLimit(root: folder.url.path, physicalMemory: 1000).bytes
    }

    private func write(_ text: String, to path: String) throws {
        _ = try folder.write(Data(text.utf8), to: path)
    }

    @Test func isThePhysicalMemoryWithoutControlGroups() {
        #expect(limit == 1000)
    }

    @Test func isTheLimitOfTheGroup() throws {
        try write("0::/\n", to: "proc/self/cgroup")
        try write("600\n", to: "sys/fs/cgroup/memory.max")
        #expect(limit == 600)
    }

    @Test func isTheLeastLimitOfAllParents() throws {
        try write("0::/user/app\n", to: "proc/self/cgroup")
        try write("max\n", to: "sys/fs/cgroup/memory.max")
        try write("300\n", to: "sys/fs/cgroup/user/memory.max")
        try write("500\n", to: "sys/fs/cgroup/user/app/memory.max")
        #expect(limit == 300)
    }

    @Test func knowsVersion1() throws {
        try write("3:cpu,memory:/app\n0::/\n", to: "proc/self/cgroup")
        try write("9223372036854771712\n", to: "sys/fs/cgroup/memory/memory.limit_in_bytes")
        try write("400\n", to: "sys/fs/cgroup/memory/app/memory.limit_in_bytes")
        #expect(limit == 400)
    }

    @Test func isThePhysicalMemoryWhenThatIsLess() throws {
        try write("0::/\n", to: "proc/self/cgroup")
        try write("4000\n", to: "sys/fs/cgroup/memory.max")
        #expect(limit == 1000)
    }
}
