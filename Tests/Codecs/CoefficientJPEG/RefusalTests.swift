import CoefficientJPEG
import CoefficientJPEGTestKit
import Testing

/// What this decoder leaves to another.
@Suite struct RefusalTests {
    @Test func otherKindsOfFilesAreRefused() {
        func refusal(_ width: Int = 30, _ change: (inout JPEGSample) -> Void) -> JPEGRefusal? {
            var sample = JPEGSample(width: width, height: 30)
            change(&sample)
            return self.refusal(of: sample.encoded())
        }
        #expect(refusal { $0.isArithmetic = true } == .process)
        #expect(refusal { ($0.isArithmetic, $0.isProgressive) = (true, true) } == .process)
        #expect(refusal { $0.keepsRGB = true } == .colour)
        #expect(refusal(90) { $0.horizontal = 4 } == .sampling)
    }

    @Test(arguments: [nil] + JPEGSample.Scans.allCases.map(Optional.some))
    func aFileCutOffAnywhereIsRefused(scans: JPEGSample.Scans?) {
        var sample = JPEGSample(width: 40, height: 24)
        if let scans {
            (sample.horizontal, sample.vertical) = (2, 2)
            (sample.isProgressive, sample.scans) = (true, scans)
        }
        let bytes = sample.encoded()
        for count in bytes.indices {
            #expect(refusal(of: bytes.prefix(count)) != nil)
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

    @Test(arguments: [false, true])
    func aHugePictureOfFewBytesIsRefusedBeforeAnythingIsDecoded(isProgressive: Bool) {
        var sample = JPEGSample(width: 16, height: 16)
        sample.isProgressive = isProgressive
        var bytes = sample.encoded()
        let frame = segment(isProgressive ? 0xC2 : 0xC0, of: bytes)
        bytes.replaceSubrange(frame + 5..<frame + 9, with: [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(throws: JPEGRefusal.truncated) {
            try bytes.withUnsafeBytes { _ = try ReducedJPEG($0, reducedTo: .eighth) }
        }
    }

    @Test func headersThatMakeNoSenseAreRefused() {
        let bytes = JPEGSample(width: 16, height: 16).encoded()
        func refusal(_ marker: UInt8, _ offset: Int, _ values: [UInt8]) -> JPEGRefusal? {
            var changed = bytes
            let place = segment(marker, of: bytes) + offset
            changed.replaceSubrange(place..<place + values.count, with: values)
            return self.refusal(of: changed)
        }
        #expect(refusal(0xC0, 4, [12]) == .precision && refusal(0xC0, 5, [0, 0]) == .height)
        // Three codes of one bit; tables that are missing.
        #expect(refusal(0xC4, 5, [3]) == .huffman && refusal(0xC4, 1, [0xFE]) == .huffman)
        #expect(refusal(0xDB, 1, [0xFE]) == .quantisation)
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
