/// The ICC profile of a JPEG file, which is cut into segments (ICC.1:2010, B.4).
struct JPEGProfileChunks {
    /// "ICC_PROFILE", a zero, the chunk's number and how many there are.
    private static let headLength = 14

    private var chunks: [Int: [UInt8]] = [:]
    private var total: Int?

    /// Takes a segment; false when it contradicts those before.
    mutating func take(_ segment: UnsafeRawBufferPointer) -> Bool {
        guard segment.count >= Self.headLength else { return false }
        let (number, total) = (Int(segment[12]), Int(segment[13]))
        guard number >= 1, number <= total, chunks[number] == nil, self.total ?? total == total
        else { return false }
        self.total = total
        chunks[number] = Array(segment[Self.headLength...])
        return true
    }

    /// The profile; empty when there is none, `nil` when parts of it are missing.
    var joined: [UInt8]? {
        guard let total else { return [] }
        guard chunks.count == total else { return nil }
        return (1...total).flatMap { chunks[$0] ?? [] }
    }
}
