import CCodecs
package import Foundation

package struct WebPFile {
    /// Width and height of the picture, or of an animation's canvas, as stored.
    package let width: Int
    package let height: Int
    /// Whether the pixels have an opacity: an animation also if a frame leaves a part of the canvas free.
    package let hasAlpha: Bool
    /// Whether the samples of a still picture are stored without loss.
    package let isLossless: Bool
    /// Milliseconds that each frame of an animation is shown; empty for a still picture.
    package let durations: [Int]
    /// The number of times an animation plays; 0 means forever.
    package let loopCount: Int
    /// The colour profile; `nil` when there is none.
    package let profile: [UInt8]?
    /// The block of EXIF data; `nil` when there is none.
    package let exif: [UInt8]?

    package var isAnimated: Bool { !durations.isEmpty }
    /// Channels of the pixels as read: 3, or 4 with opacity.
    package var channels: Int { hasAlpha ? 4 : 3 }

    /// Walks the chunks of a whole file; decodes nothing.
    ///
    /// - Throws: For an animation of one frame too, of which decoders think differently.
    package init(_ bytes: UnsafeRawBufferPointer) throws(CodecRefusal) {
        var file = WebPData(
            bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), size: bytes.count)
        guard let demuxer = WebPDemux(&file) else { throw .damaged("it cannot be parsed") }
        defer { WebPDemuxDelete(demuxer) }
        let flags = WebPDemuxGetI(demuxer, WEBP_FF_FORMAT_FLAGS)
        width = Int(WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_WIDTH))
        height = Int(WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_HEIGHT))
        guard width > 0, height > 0 else { throw .damaged("it has no size") }

        var hasAlpha = flags & ALPHA_FLAG.rawValue != 0
        var durations: [Int] = []
        if flags & ANIMATION_FLAG.rawValue != 0 {
            guard WebPDemuxGetI(demuxer, WEBP_FF_FRAME_COUNT) > 1 else {
                throw .unusual("it is an animation without a second frame")
            }
            var frame = WebPIterator()
            var found = WebPDemuxGetFrame(demuxer, 1, &frame)
            while found != 0 {
                durations.append(Int(frame.duration))
                if frame.has_alpha != 0 || frame.width != width || frame.height != height {
                    hasAlpha = true
                }
                found = WebPDemuxNextFrame(&frame)
            }
            WebPDemuxReleaseIterator(&frame)
            guard durations.count == WebPDemuxGetI(demuxer, WEBP_FF_FRAME_COUNT) else {
                throw .damaged("frames are missing")
            }
        }
        self.hasAlpha = hasAlpha
        var features = WebPBitstreamFeatures()
        let status = WebPGetFeatures(file.bytes, file.size, &features)
        // 1 is with loss, 2 without.
        isLossless = status == VP8_STATUS_OK && features.format == 2
        self.durations = durations
        loopCount = Int(WebPDemuxGetI(demuxer, WEBP_FF_LOOP_COUNT))
        profile = flags & ICCP_FLAG.rawValue == 0 ? nil : Self.chunk("ICCP", demuxer)
        exif = flags & EXIF_FLAG.rawValue == 0 ? nil : Self.chunk("EXIF", demuxer)
    }

    private static func chunk(_ name: String, _ demuxer: OpaquePointer) -> [UInt8]? {
        var chunk = WebPChunkIterator()
        guard WebPDemuxGetChunk(demuxer, name, 1, &chunk) != 0 else { return nil }
        defer { WebPDemuxReleaseChunkIterator(&chunk) }
        return Array(UnsafeBufferPointer(start: chunk.chunk.bytes, count: chunk.chunk.size))
    }
}

/// The chunks of a WebP file (its container is RIFF), as far as they have begun.
package struct WebPChunks: Sequence, IteratorProtocol {
    package struct Chunk {
        package let name: String
        /// Where its content is, or would be in a longer file.
        package let content: Range<Int>
        package let rest: UnsafeRawBufferPointer

        /// With its name and length, and the byte that makes the length even.
        package var whole: Range<Int> {
            content.lowerBound - 8..<content.upperBound + content.count % 2
        }
    }

    private let bytes: UnsafeRawBufferPointer
    private var offset: Int
    private let end: Int

    /// Those within the length that the file states.
    package init(_ bytes: UnsafeRawBufferPointer) {
        // It counts from the letters "WEBP" on.
        let length = bytes.littleEndian(4, 4) ?? 0
        self.init(bytes, 12..<Swift.max(12, 8 + length))
    }

    package init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        self.bytes = bytes
        offset = range.lowerBound
        end = range.upperBound
    }

    package mutating func next() -> Chunk? {
        guard offset + 8 <= end,
            let length = bytes.littleEndian(offset + 4, 4)
        else { return nil }
        let name = String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
        let chunk = Chunk(
            name: name, content: offset + 8..<offset + 8 + length,
            rest: UnsafeRawBufferPointer(rebasing: bytes[(offset + 8)...]))
        offset = chunk.whole.upperBound
        return chunk
    }
}

extension Data {
    /// Has a RIFF file that begins at 0 state its length.
    package mutating func setRIFFLength() {
        let size = UInt32(truncatingIfNeeded: count - 8)
        for index in 0..<4 { self[4 + index] = UInt8(truncatingIfNeeded: size >> (8 * index)) }
    }
}
