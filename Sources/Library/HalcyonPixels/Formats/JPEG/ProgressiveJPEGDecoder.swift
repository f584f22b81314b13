import CCodecs
import DirectCodecs
package import Foundation
import Vips

/// Decodes a progressive JPEG file while it arrives, scan by scan.
///
/// Each byte is entropy-decoded once, however many pictures are made; a picture costs the inverse
/// transform and the colour conversion. All calls block and belong on the decoding pool. After an error
/// nothing can be decoded any more.
package final class ProgressiveJPEGDecoder: @unchecked Sendable {
    // Unchecked because it is not locked: whoever owns it makes one call at a time.

    private let limits: DecodingLimits
    /// Bytes of the budget for all decoding that this takes, from the first scan to its end.
    private var held = 0
    private let decoder: OpaquePointer
    private var counter = JPEGScanCounter()
    /// Where each complete scan ends: the bytes before that, including the mark behind it, and the scans that have
    /// begun there.
    private var boundaries: [(length: Int, begun: Int)] = []
    /// The bytes that the decoder is not done with.
    private var pending = Data()
    private var header: Header?
    private var isBroken = false

    package private(set) var receivedCount = 0
    /// The bytes that have been decoded for good.
    private(set) var decodedCount = 0
    package private(set) var decodedScanCount = 0

    /// - Throws: `ImageCodingError`: there is no memory.
    package init(limits: DecodingLimits) throws(ImageCodingError) {
        guard let decoder = cjpeg_create() else {
            throw .corrupt(.JPEG, reason: "there is no memory to decode it")
        }
        self.decoder = decoder
        self.limits = limits
    }

    deinit {
        if held > 0 { DecodingBudget.shared.giveBack(held) }
        cjpeg_destroy(decoder)
    }

    /// The complete scans among the bytes so far, decoded or not: 0 until a second scan has begun.
    var completeScanCount: Int { counter.begun < 2 ? 0 : boundaries.count }

    /// The complete scans that another one follows: what is worth showing, since the last scan completes
    /// the picture.
    package var followedScanCount: Int { max(0, counter.begun - 1) }

    /// The scans that had begun in the bytes that have been decoded.
    package var begunScanCount: Int {
        decodedScanCount == 0 ? 0 : boundaries[decodedScanCount - 1].begun
    }

    /// Whether further bytes change nothing.
    var isAtEnd: Bool { counter.isAtEnd }

    /// Takes the next bytes; decodes nothing.
    ///
    /// - Returns: How many scans became complete.
    /// - Throws: `ImageCodingError` for what is no progressive JPEG file.
    @discardableResult
    package func feed(_ bytes: Data) throws(ImageCodingError) -> Int {
        receivedCount += bytes.count
        let before = completeScanCount
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty, boundaries.count <= JPEGSegments.maximumScanCount {
                let known = counter.complete
                let looked = counter.scan(UnsafeRawBufferPointer(rebasing: rest))
                rest = rest.dropFirst(looked)
                if counter.complete > known {
                    boundaries.append((counter.completeLength, counter.begun))
                }
            }
        }
        guard counter.process != .other else {
            throw .unsupported(.JPEG, reason: "it is not progressive")
        }
        guard boundaries.count <= JPEGSegments.maximumScanCount else {
            throw .unsupported(.JPEG, reason: "it has too many scans")
        }
        pending.append(bytes)
        return completeScanCount - before
    }

    /// Decodes up to the end of complete scan `scan`, counted from 1.
    /// - Throws: `ImageCodingError`, also when the picture is beyond the limits, or when others decode so much
    ///   that there is no room for it: before memory is taken for it.
    package func decode(upTo scan: Int) throws {
        try DecodingWatch.run(limits.maximumDuration) { try decodeAtOnce(upTo: scan) }
    }

    private func decodeAtOnce(upTo scan: Int) throws {
        guard !isBroken else { throw failure }
        guard scan > decodedScanCount, scan <= boundaries.count else { return }
        isBroken = true
        if header == nil {
            header = try Header(firstScan: pending.prefix(boundaries[0].length - 2))
        }
        let length = boundaries[scan - 1].length
        while true {
            let state = consume(upTo: length)
            switch state {
            case CJPEG_HEADER_READ:
                try check(cjpeg_get_header(decoder))
                continue
            case CJPEG_NEEDS_BYTES, CJPEG_ENDED:
                // Should the two read a file differently, no picture of it is shown.
                guard cjpeg_scan_count(decoder) == scan else { throw failure }
                decodedScanCount = scan
                isBroken = false
                return
            default:
                throw failure
            }
        }
    }

    /// The picture of the decoded scans: upright, in sRGB.
    /// - Throws: `ImageCodingError`, `VipsError`.
    package func bitmap() throws -> Bitmap {
        guard let header, !isBroken, decodedScanCount > 0 else { throw failure }
        let frame = cjpeg_get_header(decoder)
        let size = PixelSize(width: Int(frame.width), height: Int(frame.height))
        let channels = Int(frame.channels)
        // One channel is not converted yet.
        let stored = try Bitmap(size: size, channels: channels) { size, pixels in
            guard cjpeg_read(decoder, pixels, size.pixelCount * channels) else { throw failure }
        }
        if channels == 3, header.isPlain { return stored }
        return try header.apply(to: stored.vipsImage(channels == 1 ? .bw : .srgb))
    }

    private func consume(upTo length: Int) -> cjpeg_state {
        var consumed = 0
        let state = pending.withUnsafeBytes { bytes in
            cjpeg_consume(
                decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
                min(bytes.count, length - decodedCount), &consumed)
        }
        decodedCount += consumed
        pending = pending.count > consumed ? Data(pending.dropFirst(consumed)) : Data()
        return state
    }

    private func check(_ frame: cjpeg_header) throws(ImageCodingError) {
        guard frame.is_progressive, frame.channels > 0 else {
            throw .unsupported(.JPEG, reason: "its colours are only converted when it is complete")
        }
        let size = PixelSize(width: Int(frame.width), height: Int(frame.height))
        if let limit = limits.maximumPixelCount, size.pixelCount > limit {
            throw .tooManyPixels(size, limit: limit)
        }
        // The picture once as it is made, and once on show.
        let needed = frame.coefficient_bytes.clampedPlus(size.pixelCount.clampedTimes(6))
        if let limit = limits.maximumMemory, needed > limit {
            throw .tooMuchMemory(needed: needed, limit: limit)
        }
        guard DecodingBudget.shared.takeIfFree(needed) else {
            throw .processing(reason: "there is no room to show it before it is complete")
        }
        held = needed
    }

    private var failure: ImageCodingError {
        let message = String(cString: cjpeg_message(decoder))
        return .corrupt(.JPEG, reason: message.isEmpty ? "its scans cannot be told apart" : message)
    }
}

extension ProgressiveJPEGDecoder {
    /// The orientation and the profile from the segments before the first scan.
    private struct Header {
        let orientation: Int
        let profile: Data?

        /// Reads the header of a file that ends with its first scan; no pixels are decoded.
        init(firstScan bytes: Data) throws {
            let image = try VipsImage.load(
                "jpegload_buffer", bytes: bytes + [0xFF, 0xD9], ["access": "sequential"])
            orientation = image.orientation(in: .JPEG)
            profile = image.blob("icc-profile-data")
        }

        /// Whether the decoded pixels are the picture.
        var isPlain: Bool { orientation == 1 && profile == nil }

        /// The picture that `image`, as decoded, is.
        func apply(to image: VipsImage) throws -> Bitmap {
            var image = image
            if let profile {
                // As the whole picture is converted, so that the last scan looks like it.
                let foreign = ForeignProfile([UInt8](profile), channels: image.bands)
                if let foreign, foreign.isQuick, image.bands == 3 {
                    image = try Bitmap(rendering: image).convertingNewPixels(by: foreign)
                        .vipsImage()
                } else {
                    image = try image.settingMetadata([("icc-profile-data", .blob(profile))])
                }
            }
            image = try image.decodedToSRGB(alpha: false)
            if orientation > 1 {
                image = try image.copiedToMemory()
                    .settingMetadata([("orientation", .int(orientation))]).orientationApplied()
            }
            return try Bitmap(rendering: image)
        }
    }
}
