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
                for plane in 0..<strip.planeCount {
                    let rows = strip[plane: plane]
                    #expect(rows.firstRow == next[plane])
                    #expect(rows.width == jpeg.planes[plane].width)
                    next[plane] += rows.rowCount
                }
            }
            #expect(indices == Array(0..<jpeg.stripCount))
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
