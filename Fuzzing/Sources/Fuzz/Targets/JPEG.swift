import CCodecs
import CoefficientJPEG
import Foundation
import Vips

@testable import DirectCodecs
@testable import HalcyonPixels

extension FuzzTarget {
    private static let files: @Sendable () throws -> [Data] = {
        Drawing.files(
            "jpegsave_buffer",
            [
                [:], ["interlace": true], ["subsample_mode": "off"], ["Q": 20, "interlace": true],
                ["restart_interval": 2],
            ], bands: [1, 3])
    }

    /// Whole pictures, reduced ones and turned ones.
    static let jpeg = FuzzTarget("jpeg", seeds: files) { data in
        data.withUnsafeBytes { bytes in
            _ = JPEGFrame(data)
            guard let header = JPEGHeader(bytes),
                header.width * header.height <= mostPixels
            else { return }
            let pixels = UnsafeMutablePointer<UInt8>.allocate(
                capacity: header.width * header.height * 3)
            defer { pixels.deallocate() }
            for denominator in [1, 8] {
                try? JPEGReader.read(
                    bytes, header: header, denominator: denominator, into: pixels)
            }
            for isFast in [false, true] {
                try? JPEGReader.read(
                    bytes, header: header, width: max(1, header.width / 9),
                    height: max(1, header.height / 9), isFast: isFast, into: pixels)
            }
            if header.orientation > 1 {
                try? JPEGReader.readTurned(bytes, header: header, into: pixels)
            }
        }
    }

    /// The decoder that steps over coefficients.
    static let coefficients = FuzzTarget("coefficients", seeds: files) { data in
        try data.withUnsafeBytes { bytes in
            let ways: [(JPEGReduction, Bool)] = [
                (.half, true), (.quarter, true), (.eighth, true), (.eighth, false),
            ]
            for (reduction, enlargesChroma) in ways {
                let picture = try ReducedJPEG(
                    bytes, reducedTo: reduction, enlargesChroma: enlargesChroma)
                guard picture.planes[0].width * picture.planes[0].height <= mostPixels else {
                    return
                }
                var sum = 0
                try picture.decode { strip in
                    for plane in picture.planes.indices {
                        strip.forEachRow(ofPlane: plane) { _, samples in
                            sum &+= samples.reduce(0) { $0 &+ Int($1) }
                        }
                    }
                }
            }
        }
    }

    /// The decoder that is fed in pieces, with the counter of scans beside it, which must have the same
    /// opinion of the file: as long as the counter follows it, no scan is decoded that it has not seen begin.
    /// The first byte chooses the pieces, each of another length.
    static let progressive = FuzzTarget(
        "progressive",
        seeds: { try files().flatMap { file in [1, 7, 64].map { Data([$0]) + file } } }
    ) { data in
        guard let first = data.first, let decoder = cjpeg_create() else { return }
        defer { cjpeg_destroy(decoder) }
        let bytes = [UInt8](data.dropFirst())
        var counter = JPEGScanCounter()
        var (received, offset) = (0, 0)
        var pixels: [UInt8] = []
        var state = CJPEG_NEEDS_BYTES
        while received < bytes.count, state != CJPEG_FAILED, state != CJPEG_ENDED {
            let length = 1 + Int(first ^ bytes[received] &* 31) % (1 + Int(first))
            received = min(bytes.count, received + length)
            bytes.withUnsafeBytes { bytes in
                while counter.count < received {
                    let left = bytes[counter.count..<received]
                    _ = counter.scan(UnsafeRawBufferPointer(rebasing: left))
                }
            }
            repeat {
                var consumed = 0
                // In memory of its own, so that reading beyond it is seen.
                let piece = Array(bytes[offset..<received])
                state = cjpeg_consume(decoder, piece, piece.count, &consumed)
                offset += consumed
                let header = cjpeg_get_header(decoder)
                if state == CJPEG_HEADER_READ {
                    guard header.width * header.height <= mostPixels else { return }
                    pixels = Array(
                        repeating: 0, count: header.width * header.height * Int(header.channels))
                    guard header.is_progressive, header.channels > 0 else { return }
                }
            } while state == CJPEG_HEADER_READ
            let decoded = Int(cjpeg_scan_count(decoder))
            precondition(
                state == CJPEG_FAILED || counter.isAtEnd || decoded <= counter.begun,
                "\(decoded) scans decoded, \(counter.begun) counted")
            guard state != CJPEG_FAILED, !pixels.isEmpty, decoded > 0 else { continue }
            if !cjpeg_read(decoder, &pixels, pixels.count) { return }
        }
    }
}
