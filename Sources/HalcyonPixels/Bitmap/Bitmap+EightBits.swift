extension Bitmap {
    /// Calls `body` with the samples as bytes: of 16 bits the upper eight.
    func withEightBits<R>(_ body: (UnsafePointer<UInt8>) throws -> R) rethrows -> R {
        try withUnsafeBytes { bytes in
            if depth == .eight, let base = bytes.baseAddress {
                return try body(base.assumingMemoryBound(to: UInt8.self))
            }
            let count = bytes.count / 2
            return try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { upper in
                for index in 0..<count {
                    let sample = bytes.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)
                    upper.initializeElement(at: index, to: UInt8(sample >> 8))
                }
                return try body(UnsafePointer(upper.baseAddress!))
            }
        }
    }
}
