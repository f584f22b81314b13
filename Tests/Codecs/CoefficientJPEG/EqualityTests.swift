import CoefficientJPEG
import CoefficientJPEGTestKit
import Testing

/// libjpeg-turbo is the oracle: at 1/8 its planes have to come out bit for bit.
@Suite struct EqualityTests {
    static let samplings = [(1, 1), (2, 1), (1, 2), (2, 2)]

    @Test(arguments: [1, 3], samplings)
    func planesAtAnEighthEqualThoseOfLibjpeg(channels: Int, sampling: (Int, Int)) throws {
        for (index, size) in [(1, 1), (8, 8), (17, 9), (33, 40), (250, 131)].enumerated() {
            for quality in [5, 50, 90, 100] {
                var sample = JPEGSample(width: size.0, height: size.1)
                sample.channels = channels
                (sample.horizontal, sample.vertical) = sampling
                sample.quality = quality
                sample.noise = 30 * index
                sample.isOptimised = quality == 90
                try Self.expectPlanesOfLibjpeg(sample)
                sample.isProgressive = true
                for scans in JPEGSample.Scans.allCases {
                    sample.scans = scans
                    try Self.expectPlanesOfLibjpeg(sample)
                }
            }
        }
    }

    private static func expectPlanesOfLibjpeg(_ sample: JPEGSample) throws {
        let bytes = sample.encoded()
        let reference = ReferencePicture(decoding: bytes, denominator: 8)
        #expect(reference.isClean)
        #expect(try Planes(decoding: bytes, reducedTo: .eighth) == reference.planes)
    }

    @Test(arguments: JPEGReduction.allCases, samplings)
    func planesHaveTheSizesOfLibjpegsRawData(
        reduction: JPEGReduction, sampling: (Int, Int)
    ) throws {
        for size in [(1, 1), (16, 16), (17, 31), (129, 65)] {
            var sample = JPEGSample(width: size.0, height: size.1)
            (sample.horizontal, sample.vertical) = sampling
            let bytes = sample.encoded()
            let ours = try Planes(decoding: bytes, reducedTo: reduction)
            let reference = ReferencePicture(decoding: bytes, denominator: reduction.rawValue)
            #expect(ours.planes.map(\.width) == reference.planes?.planes.map(\.width))
            #expect(ours.planes.map(\.height) == reference.planes?.planes.map(\.height))
        }
    }

    @Test(arguments: [1, 2, 7, 16, 1_000])
    func markersForRestartingChangeNothing(interval: Int) throws {
        var sample = JPEGSample(width: 260, height: 150)
        (sample.horizontal, sample.vertical) = (2, 2)
        let plain = sample.encoded()
        sample.restartInterval = interval
        let restarting = sample.encoded()
        #expect(restarting != plain)
        for reduction in JPEGReduction.allCases {
            #expect(
                try Planes(decoding: restarting, reducedTo: reduction)
                    == Planes(decoding: plain, reducedTo: reduction))
        }
    }

    /// Noise in full quality: several hundred kilobytes, with many stuffed bytes and long codes.
    @Test func scansOfManyChunksAreReadToTheEnd() throws {
        var sample = JPEGSample(width: 700, height: 500)
        sample.quality = 100
        sample.noise = 255
        let bytes = sample.encoded()
        (sample.horizontal, sample.vertical) = (2, 2)
        let plain = sample.encoded()
        sample.isProgressive = true
        let progressive = sample.encoded()
        #expect(bytes.count > 300_000 && progressive.count > 300_000)
        let reference = ReferencePicture(decoding: bytes, denominator: 8)
        #expect(try Planes(decoding: bytes, reducedTo: .eighth) == reference.planes)
        let half = try Planes(decoding: progressive, reducedTo: .half)
        #expect(try half == Planes(decoding: plain, reducedTo: .half))
    }

    @Test func stripsComeInOrderAndHaveEachRowOnce() throws {
        var sample = JPEGSample(width: 50, height: 77)
        (sample.horizontal, sample.vertical) = (2, 2)
        try sample.encoded().withUnsafeBytes { bytes in
            let jpeg = try ReducedJPEG(bytes, reducedTo: .quarter)
            #expect((jpeg.width, jpeg.height) == (50, 77))
            var next = [0, 0, 0]
            var indices: [Int] = []
            try jpeg.decode { strip in
                indices.append(strip.index)
                for (index, plane) in jpeg.planes.enumerated() {
                    strip.forEachRow(ofPlane: index) { row, samples in
                        #expect(strip.index * plane.rowsPerStrip + row == next[index])
                        #expect(samples.count == plane.width)
                        next[index] += 1
                    }
                }
            }
            #expect(indices == Array(0..<5))
            #expect(next == jpeg.planes.map(\.height))
        }
    }

    @Test func anErrorOfTheReceiverEndsTheWork() throws {
        struct Stop: Error {}
        try JPEGSample(width: 40, height: 40).encoded().withUnsafeBytes { bytes in
            let jpeg = try ReducedJPEG(bytes, reducedTo: .eighth)
            var strips = 0
            #expect(throws: Stop.self) {
                try jpeg.decode { _ in
                    strips += 1
                    if strips == 2 { throw Stop() }
                }
            }
            #expect(strips == 2)
        }
    }
}

@Suite struct FuzzTests {
    /// The first cases of some rows; `scripts/fuzz-jpeg` goes on for as long as one likes.
    @Test(arguments: 0..<8) func damagedFilesAreRefusedOrDecodedAsLibjpegDoes(seed: UInt64) {
        for index in 0..<40 {
            let verdict = FuzzCase(seed: 1_000 + seed, index: index).verdict()
            #expect(!verdict.isFailure, "\(verdict): seed \(1_000 + seed), case \(index)")
        }
    }
}

/// Files that come in several scans hold the same coefficients as others, and have to become the same planes.
@Suite struct ProgressiveTests {
    private func sample(
        _ size: (Int, Int), sampling: (Int, Int) = (2, 2), scans: JPEGSample.Scans = .suggested
    ) -> JPEGSample {
        var sample = JPEGSample(width: size.0, height: size.1)
        (sample.horizontal, sample.vertical) = sampling
        sample.isProgressive = true
        sample.scans = scans
        return sample
    }

    @Test(arguments: JPEGSample.Scans.allCases, EqualityTests.samplings)
    func planesEqualThoseOfTheSamePictureInOneScan(
        scans: JPEGSample.Scans, sampling: (Int, Int)
    ) throws {
        for (index, size) in [(1, 1), (17, 9), (129, 67), (260, 150)].enumerated() {
            for restartInterval in [0, 1, 7] {
                var sample = sample(size, sampling: sampling, scans: scans)
                sample.restartInterval = restartInterval
                sample.quality = 50 + 16 * index
                sample.noise = 40 * index
                let bytes = sample.encoded()
                sample.isProgressive = false
                let plain = sample.encoded()
                #expect(bytes != plain)
                for reduction in JPEGReduction.allCases {
                    for enlarges in [true, false] {
                        let (found, expected) = try (
                            Planes(decoding: bytes, reducedTo: reduction, enlargesChroma: enlarges),
                            Planes(decoding: plain, reducedTo: reduction, enlargesChroma: enlarges)
                        )
                        #expect(found == expected)
                    }
                }
            }
        }
    }

    @Test func chromaMayStayAsSmallAsItIs() throws {
        let bytes = sample((160, 96)).encoded()
        for enlargesChroma in [true, false] {
            let planes = try Planes(
                decoding: bytes, reducedTo: .quarter, enlargesChroma: enlargesChroma
            ).planes
            #expect(planes.map(\.width) == (enlargesChroma ? [40, 40, 40] : [40, 20, 20]))
            #expect(planes.map(\.height) == (enlargesChroma ? [24, 24, 24] : [24, 12, 12]))
        }
    }

    @Test(arguments: [JPEGSample.Scans.suggested, .bits])
    func scansThatDoNotContinueOneAnotherAreRefused(scans: JPEGSample.Scans) {
        let bytes = sample((40, 24), scans: scans).encoded()
        let starts = bytes.indices.dropLast().filter { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA }
        // Each scan with the tables before it.
        let ends = starts.dropFirst() + [bytes.count - 2]
        for (start, end) in zip(starts, ends) {
            var twice = bytes
            twice.insert(contentsOf: bytes[start..<end], at: start)
            var missing = bytes
            missing.removeSubrange(start..<end)
            // Of the many scans one is the only one of its band, without which the picture is only less fine.
            for changed in scans == .suggested ? [twice, missing] : [twice] {
                #expect(throws: JPEGRefusal.self) {
                    try Planes(decoding: changed, reducedTo: .half)
                }
            }
        }
    }

    @Test func moreScansThanAnEncoderWritesAreRefused() throws {
        let bytes = sample((16, 16)).encoded()
        let start = try #require(
            bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA })
        // Each tells one place, of which there are not as many; the limit comes first.
        let scan = bytes[start...].prefix(14)
        let many = Array(bytes[..<start]) + Array(repeatElement(scan, count: 101).joined())
        #expect(throws: JPEGRefusal.scans) {
            try (many + [0xFF, 0xD9]).withUnsafeBytes {
                _ = try ReducedJPEG($0, reducedTo: .eighth)
            }
        }
    }
}

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
