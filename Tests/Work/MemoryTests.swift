import Foundation
import HalcyonTestKit
import Testing

@testable import HalcyonWork

/// Memory whose size a stranger has named.
@Suite struct LargeMemoryTests {
    @Test(arguments: [1 << 46, 1 << 50, Int.max - 1, Int.max])
    func whatNoMachineHasIsNotGiven(byteCount: Int) {
        #expect(!LargeMemory.hasRoom(for: byteCount))
        #expect(throws: LargeMemory.Shortage.self) {
            try LargeMemory.allocate(byteCount: byteCount)
        }
        #expect(throws: LargeMemory.Shortage.self) {
            try LargeMemory.data(byteCount: byteCount) { _ in }
        }
    }

    @Test(arguments: [0, 1, 4096, 1 << 20, 3 << 20])
    func bytesAreThoseThatWereWritten(byteCount: Int) throws {
        let data = try LargeMemory.data(byteCount: byteCount) { buffer in
            buffer.initializeMemory(as: UInt8.self, repeating: 7)
        }
        #expect(data == Data(repeating: 7, count: byteCount))
        var grown = Data()
        try data.withUnsafeBytes { bytes in
            try grown.append(whileThereIsRoom: bytes)
            try grown.append(whileThereIsRoom: bytes)
        }
        #expect(grown == data + data)
    }

    @Test func theLimitsOfTheProcessCount() {
        func bytes(_ limits: [UInt64]) -> UInt64 {
            MemoryLimit(root: "/nowhere", physicalMemory: 1000, resourceLimits: limits).bytes
        }
        #expect(bytes([.max, .max]) == 1000 && bytes([.max, 300]) == 300)
        #expect(bytes([200, 300]) == 200)
    }
}

@Suite struct MemoryLimitTests {
    private static let cases: [(String, String?, [String: String], UInt64)] = [
        ("without control groups", nil, [:], 1000),
        ("the limit of the group", "0::/", ["memory.max": "600"], 600),
        (
            "the least limit of all parents", "0::/user/app",
            ["memory.max": "max", "user/memory.max": "300", "user/app/memory.max": "500"], 300
        ),
        (
            "version 1", "3:cpu,memory:/app\n0::/",
            [
                "memory/memory.limit_in_bytes": "9223372036854771712",
                "memory/app/memory.limit_in_bytes": "400",
            ], 400
        ),
        ("less physical memory", "0::/", ["memory.max": "4000"], 1000),
    ]

    @Test(arguments: cases)
    func isTheLeastOfPhysicalMemoryAndGroups(
        name: String, groups: String?, files: [String: String], expected: UInt64
    ) throws {
        let folder = try TemporaryDirectory()
        if let groups { try folder.write(Data("\(groups)\n".utf8), to: "proc/self/cgroup") }
        for (path, limit) in files {
            try folder.write(Data("\(limit)\n".utf8), to: "sys/fs/cgroup/\(path)")
        }
        let limit = MemoryLimit(root: folder.url.path, physicalMemory: 1000)
        #expect(limit.bytes == expected, "\(name)")
    }
}
