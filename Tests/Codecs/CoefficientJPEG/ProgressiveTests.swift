import CoefficientJPEG
import CoefficientJPEGTestKit
import Testing

/// Files that come in several scans hold the same coefficients as others, and have to become the same planes.
@Suite struct ProgressiveTests {
    private func sample(
        _ size: (Int, Int), channels: Int = 3, sampling: (Int, Int) = (2, 2),
        scans: JPEGSample.Scans = .suggested
    ) -> JPEGSample {
        var sample = JPEGSample(width: size.0, height: size.1)
        sample.channels = channels
        (sample.horizontal, sample.vertical) = sampling
        sample.isProgressive = true
        sample.scans = scans
        return sample
    }

    @Test(arguments: [1, 3], EqualityTests.samplings)
    func planesAtAnEighthEqualThoseOfLibjpeg(channels: Int, sampling: (Int, Int)) throws {
        for (index, size) in [(1, 1), (8, 8), (17, 9), (33, 40), (250, 131)].enumerated() {
            for scans in JPEGSample.Scans.allCases {
                for quality in [5, 50, 90, 100] {
                    var sample = sample(size, channels: channels, sampling: sampling, scans: scans)
                    sample.quality = quality
                    sample.noise = 30 * index
                    let bytes = sample.encoded()
                    let reference = ReferencePicture(decoding: bytes, denominator: 8)
                    #expect(reference.isClean)
                    #expect(try Planes(decoding: bytes, reducedTo: .eighth) == reference.planes)
                }
            }
        }
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
                    for enlargesChroma in [true, false] {
                        #expect(
                            try Planes(
                                decoding: bytes, reducedTo: reduction,
                                enlargesChroma: enlargesChroma)
                                == Planes(
                                    decoding: plain, reducedTo: reduction,
                                    enlargesChroma: enlargesChroma))
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

    @Test func scansOfManyChunksAreReadToTheEnd() throws {
        // Noise in full quality: several hundred kilobytes, with many stuffed bytes and long codes.
        var sample = sample((700, 500))
        sample.quality = 100
        sample.noise = 255
        let bytes = sample.encoded()
        #expect(bytes.count > 300_000)
        sample.isProgressive = false
        #expect(
            try Planes(decoding: bytes, reducedTo: .half)
                == Planes(decoding: sample.encoded(), reducedTo: .half))
    }

    @Test(arguments: JPEGSample.Scans.allCases)
    func aFileCutOffAnywhereIsRefused(scans: JPEGSample.Scans) {
        let bytes = sample((40, 24), scans: scans).encoded()
        for count in bytes.indices {
            #expect(throws: JPEGRefusal.self) {
                try Planes(decoding: Array(bytes.prefix(count)), reducedTo: .half)
            }
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

    @Test func aHugePictureOfFewBytesIsRefusedBeforeAnythingIsDecoded() throws {
        var bytes = sample((16, 16)).encoded()
        let frame = try #require(
            bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC2 })
        bytes.replaceSubrange(frame + 5..<frame + 9, with: [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(throws: JPEGRefusal.truncated) {
            try bytes.withUnsafeBytes { _ = try ReducedJPEG($0, reducedTo: .eighth) }
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
