import Foundation
import HalcyonWork
import Testing

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
        #expect(bytes([.max, .max]) == 1000)
        #expect(bytes([.max, 300]) == 300)
        #expect(bytes([200, 300]) == 200)
    }
}
