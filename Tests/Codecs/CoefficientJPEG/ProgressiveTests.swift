import CoefficientJPEG
import CoefficientJPEGTestKit
import Testing

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
