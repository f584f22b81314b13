import CoefficientJPEGTestKit
import Testing

@Suite struct FuzzTests {
    /// The first cases of some rows; `scripts/fuzz-jpeg` goes on for as long as one likes.
    @Test(arguments: 0..<8)
    func damagedFilesAreRefusedOrDecodedAsLibjpegDoes(seed: UInt64) {
        for index in 0..<40 {
            let verdict = FuzzCase(seed: 1_000 + seed, index: index).verdict()
            #expect(!verdict.isFailure, "\(verdict): seed \(1_000 + seed), case \(index)")
        }
    }
}
