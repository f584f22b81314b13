import DirectCodecs
import Foundation

extension ImageInformation {
    /// Reads the chunks (RFC 9649). EXIF data, with the orientation, stands behind the pixels.
    static func ofWebP(_ file: FilePart) throws(ImageCodingError) -> ImageInformation? {
        var chunks = WebPChunks(file.bytes)
        guard let first = chunks.next() else { return nil }
        var found = WebPFindings()
        if first.name == "VP8X" {
            guard found.readExtended(file.reader, first) else { return nil }
            // Chunks behind the length that the file states are none of its own.
            for chunk in chunks {
                found.take(chunk, file.reader)
            }
        } else {
            found.takePixels(first, file.reader)
            if let kind = found.unknownPixels { throw .corrupt(.WebP, reason: kind) }
        }
        guard let stored = found.size, !found.waitsForOrientation || file.isWhole else {
            return nil
        }
        var information = found.information
        information.size = stored.turned(by: information.orientation)
        information.bitsPerSample = 8
        information.hasGainMap = false
        information.isComplete = found.isComplete(in: file.reader)
        if information.isComplete || found.hasAlpha { information.hasAlpha = found.hasAlpha }
        if !found.isAnimated {
            information.frameCount = 1
            information.hasAlpha = found.hasAlpha
        } else if information.isComplete {
            information.frameCount = max(1, found.delays.count)
            information.animation = AnimationTiming(
                stored: found.delays, loopCount: found.loopCount)
        }
        return information
    }
}

/// The findings from the chunks of a WebP file.
private struct WebPFindings {
    private(set) var size: PixelSize?
    private(set) var hasAlpha = false
    private(set) var isAnimated = false
    /// Orientation, camera and profile.
    private(set) var information = ImageInformation(.WebP)
    private(set) var delays: [Double] = []
    private(set) var loopCount = 0
    /// The defect in the pixels of a file without other chunks.
    private(set) var unknownPixels: String?
    private var announcesEXIF = false
    private var hasEXIF = false
    private var lastEnd = 0

    /// The largest number of frames that are read.
    private static let mostFrames = 65_536

    var waitsForOrientation: Bool { announcesEXIF && !hasEXIF }

    func isComplete(in reader: ByteReader) -> Bool {
        lastEnd <= reader.count && !waitsForOrientation
            && (!isAnimated || 8 + Int(reader.littleUInt32(4) ?? 0) <= reader.count + 1)
    }

    /// Flags, and the size of the canvas less one in 24 bits each.
    mutating func readExtended(_ reader: ByteReader, _ chunk: WebPChunks.Chunk) -> Bool {
        let start = chunk.content.lowerBound
        guard let flags = reader.byte(start), let width = reader.littleUInt24(start + 4),
            let height = reader.littleUInt24(start + 7)
        else { return false }
        size = PixelSize(width: width + 1, height: height + 1)
        hasAlpha = flags & 0x10 != 0
        isAnimated = flags & 0x02 != 0
        announcesEXIF = flags & 0x08 != 0
        return true
    }

    mutating func take(_ chunk: WebPChunks.Chunk, _ reader: ByteReader) {
        lastEnd = max(lastEnd, chunk.content.upperBound)
        let content = reader.slice(chunk.content.lowerBound, count: chunk.content.count)
        switch chunk.name {
        case "ANIM":
            loopCount = reader.littleUInt16(chunk.content.lowerBound + 4) ?? 0
        case "ANMF" where isAnimated && delays.count < Self.mostFrames:
            readFrame(chunk, reader)
        case "EXIF":
            guard announcesEXIF, !hasEXIF, let content else { return }
            hasEXIF = true
            information.orientation = EXIFBlock.orientation(in: content) ?? 1
            information.camera = ImageInformation.Camera(exif: content)
        case "ICCP":
            if information.colorProfile == nil, let content {
                let name = ProfileName.of(ByteReader(content), from: 0)
                information.colorProfile = .icc(name: name)
            }
        default:
            break
        }
    }

    /// Two halved offsets, width and height less one and milliseconds, in 24 bits each, and flags.
    private mutating func readFrame(_ chunk: WebPChunks.Chunk, _ reader: ByteReader) {
        let start = chunk.content.lowerBound
        guard let width = reader.littleUInt24(start + 6),
            let height = reader.littleUInt24(start + 9),
            let delay = reader.littleUInt24(start + 12)
        else { return }
        delays.append(Double(delay) / 1000)
        if PixelSize(width: width + 1, height: height + 1) != size { hasAlpha = true }
        let parts = WebPChunks(reader.bytes, start + 16..<max(start + 16, chunk.content.upperBound))
        for part in parts.prefix(2) where part.name == "ALPH" || part.name == "VP8L" {
            if part.name == "ALPH" || Self.lossless(reader, part)?.hasAlpha == true {
                hasAlpha = true
            }
        }
    }

    /// A picture without any other chunk.
    mutating func takePixels(_ chunk: WebPChunks.Chunk, _ reader: ByteReader) {
        lastEnd = chunk.content.upperBound
        let start = chunk.content.lowerBound
        switch chunk.name {
        case "VP8 ":
            guard let mark = reader.slice(start + 3, count: 3),
                let width = reader.littleUInt16(start + 6),
                let height = reader.littleUInt16(start + 8)
            else { return }
            guard mark.elementsEqual([0x9D, 0x01, 0x2A]) else {
                unknownPixels = "its pixels do not begin as they should"
                return
            }
            // The upper two bits are for scaling.
            size = PixelSize(width: width & 0x3FFF, height: height & 0x3FFF)
        case "VP8L":
            guard let found = Self.lossless(reader, chunk) else { return }
            size = found.size
            hasAlpha = found.hasAlpha
        default:
            unknownPixels = "it has no pixels"
        }
    }

    /// A mark, width and height less one in 14 bits each, and a bit for opacity.
    private static func lossless(
        _ reader: ByteReader, _ chunk: WebPChunks.Chunk
    ) -> (size: PixelSize, hasAlpha: Bool)? {
        let start = chunk.content.lowerBound
        guard reader.byte(start) == 0x2F, let bits = reader.littleUInt32(start + 1) else {
            return nil
        }
        let size = PixelSize(width: Int(bits & 0x3FFF) + 1, height: Int(bits >> 14 & 0x3FFF) + 1)
        return (size, bits >> 28 & 1 == 1)
    }
}
