import CoefficientJPEG
import CoefficientJPEGTestKit
import Testing

/// What this decoder leaves to another.
@Suite struct RefusalTests {
    @Test func otherProcessesAreRefused() {
        var sample = JPEGSample(width: 30, height: 30)
        sample.isArithmetic = true
        #expect(refusal(of: sample.encoded()) == .process)
        sample.isProgressive = true
        #expect(refusal(of: sample.encoded()) == .process)
    }

    @Test func colourThatIsNotYCbCrIsRefused() {
        var sample = JPEGSample(width: 30, height: 30)
        sample.keepsRGB = true
        #expect(refusal(of: sample.encoded()) == .colour)
    }

    @Test func samplingByFourIsRefused() {
        var sample = JPEGSample(width: 90, height: 30)
        sample.horizontal = 4
        #expect(refusal(of: sample.encoded()) == .sampling)
    }

    @Test func aFileCutOffAnywhereIsRefused() {
        let bytes = JPEGSample(width: 40, height: 24).encoded()
        for count in bytes.indices {
            #expect(refusal(of: Array(bytes.prefix(count))) != nil)
        }
    }

    @Test func aSecondScanIsRefused() {
        let bytes = JPEGSample(width: 16, height: 16).encoded()
        let scan = segment(0xDA, of: bytes)
        #expect(refusal(of: bytes.dropLast(2) + bytes[scan...]) == .scans)
    }

    @Test func bytesBehindTheImagesEndAreIgnored() {
        let bytes = JPEGSample(width: 16, height: 16).encoded()
        #expect(refusal(of: bytes + [1, 2, 3]) == nil)
        #expect(refusal(of: bytes.dropLast(2) + [0x55, 0xFF, 0xD9]) == .trailing)
    }

    @Test func aHugePictureOfFewBytesIsRefusedBeforeAnythingIsDecoded() {
        var bytes = JPEGSample(width: 16, height: 16).encoded()
        let frame = segment(0xC0, of: bytes)
        bytes.replaceSubrange(frame + 5..<frame + 9, with: [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(throws: JPEGRefusal.truncated) {
            try bytes.withUnsafeBytes { _ = try ReducedJPEG($0, reducedTo: .eighth) }
        }
    }

    @Test func otherDepthsAndMissingHeightsAreRefused() {
        let bytes = JPEGSample(width: 16, height: 16).encoded()
        let frame = segment(0xC0, of: bytes)
        var changed = bytes
        changed[frame + 4] = 12
        #expect(refusal(of: changed) == .precision)
        changed = bytes
        changed.replaceSubrange(frame + 5..<frame + 7, with: [0, 0])
        #expect(refusal(of: changed) == .height)
    }

    @Test func tablesThatAreMissingOrMakeNoSenseAreRefused() {
        let bytes = JPEGSample(width: 16, height: 16).encoded()
        var changed = bytes
        let table = segment(0xC4, of: bytes)
        // Three codes of one bit.
        changed[table + 5] = 3
        #expect(refusal(of: changed) == .huffman)
        changed = bytes
        changed[table + 1] = 0xFE
        #expect(refusal(of: changed) == .huffman)
        changed = bytes
        changed[segment(0xDB, of: bytes) + 1] = 0xFE
        #expect(refusal(of: changed) == .quantisation)
    }

    @Test func aRestartThatIsMissingIsRefused() throws {
        var sample = JPEGSample(width: 64, height: 64)
        sample.restartInterval = 5
        let bytes = sample.encoded()
        let start = segment(0xDA, of: bytes)
        let marker = try #require(
            (start..<bytes.count - 1).first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xD1 })
        var changed = bytes
        changed[marker + 1] = 0xD2
        #expect(refusal(of: changed) == .restartMarkers)
        changed = bytes
        changed.removeSubrange(marker..<marker + 2)
        #expect(refusal(of: changed) != nil)
    }

    @Test func whatIsNoJPEGIsRefused() {
        #expect(refusal(of: []) == .notJPEG)
        #expect(refusal(of: Array("GIF89a and more".utf8)) == .notJPEG)
    }

    private func refusal(of bytes: some Sequence<UInt8>) -> JPEGRefusal? {
        do {
            for reduction in JPEGReduction.allCases {
                _ = try Planes(decoding: Array(bytes), reducedTo: reduction)
            }
            return nil
        } catch {
            return error as? JPEGRefusal
        }
    }

    /// Where the first segment with a marker starts, in the header of a file that is in order.
    private func segment(_ marker: UInt8, of bytes: [UInt8]) -> Int {
        var position = 2
        while bytes[position + 1] != marker {
            position += 2 + Int(bytes[position + 2]) << 8 + Int(bytes[position + 3])
        }
        return position
    }
}
