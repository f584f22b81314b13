/// The parts of a progressive file that show at an eighth of its size: of luminance the mean of each 8×8
/// block (its DC coefficient), of chroma everything, since that may be decoded at a quarter. The rest is
/// most of the work.
enum JPEGCoarseScans {
    /// Calls `body` with the file without the scans of other coefficients; with the whole file if it is
    /// cut short or unusual, so that it is judged as a whole.
    static func withPieces<R>(
        of file: UnsafeRawBufferPointer,
        _ body: ([UnsafeRawBufferPointer]) throws(DirectCodecError) -> R
    ) throws(DirectCodecError) -> R {
        guard let ranges = coarseRanges(of: file) else { return try body([file]) }
        return try body(ranges.map { UnsafeRawBufferPointer(rebasing: file[$0]) })
    }

    /// What to keep, with the end of the image; `nil` when the file does not reach it.
    private static func coarseRanges(of file: UnsafeRawBufferPointer) -> [Range<Int>]? {
        var luminance: UInt8?
        var kept: [Range<Int>] = []
        var start = 0
        var segments = JPEGSegments(file)
        while let segment = segments.next() {
            if segment.code == 0xC2 { luminance = segment.content.byte(at: 6) }
            guard segment.code == 0xDA else { continue }
            guard let scan = JPEGScan(segment.content), segments.passScan() else { return nil }
            if scan.first != 0, scan.members[0].identifier == luminance {
                kept.append(start..<segment.start)
                start = segments.offset
            }
        }
        guard segments.hasEnded else { return nil }
        kept.append(start..<segments.offset)
        return kept
    }
}
