import Foundation

extension EncodedImage {
    /// Pixels times scans of a progressive JPEG file that are still decoded: some three seconds of work. Those
    /// of large photographs come to a third of it.
    private static let mostScanWork = 5_000_000_000

    /// Throws for a file that makes far more work than its size lets expect, although it is within the other
    /// limits.
    ///
    /// - Parameter size: The size at which it is wanted, if it is smaller than the full one.
    /// - Throws: `ImageCodingError`.
    func checkWork(reducedTo size: PixelSize?) throws(ImageCodingError) {
        let count = header.size.pixelCount
        switch header.format {
        case .JPEG where count > Self.mostScanWork / JPEGScanCounter.mostScans:
            let scans = JPEGFrameHeader.scanCount(of: data)
            guard count.clampedTimes(scans) > Self.mostScanWork else { return }
            throw .unsupported(
                .JPEG, reason: "\(scans) scans of \(count) pixels would take too long to decode")
        case .SVG:
            guard let drawing, let limit = limits.maximumDuration else { return }
            // An estimate may be wrong by some factor, and nothing stops the drawing of a tile.
            let cost = drawing.duration(drawnAt: size ?? header.size)
            guard cost > limit / 6 else { return }
            throw .tooSlow(limit: limit)
        default:
            return
        }
    }
}

extension JPEGScanCounter {
    /// More scans than any encoder writes; decoders refuse files that have more.
    static let mostScans = 100
}

extension JPEGFrameHeader {
    /// How many scans a file has at most: the places where two bytes stand as before a scan.
    static func scanCount(of data: Data) -> Int {
        data.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            var (count, offset) = (0, 0)
            while offset + 1 < bytes.count,
                let found = memchr(base + offset, 0xFF, bytes.count - offset - 1)
            {
                offset = UnsafeRawPointer(found) - base + 1
                if bytes[offset] == 0xDA { count += 1 }
            }
            return count
        }
    }
}
