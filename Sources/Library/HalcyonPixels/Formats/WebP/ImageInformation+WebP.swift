import DirectCodecs
import Foundation

extension ImageInformation {
    /// Reads the chunks (RFC 9649). EXIF data, with the orientation, stands behind the pixels.
    static func ofWebP(_ file: FilePart) throws(ImageCodingError) -> ImageInformation? {
        var chunks = WebPChunks(file.bytes)
        guard let first = chunks.next() else { return nil }
        var found = WebPFindings()
        if first.name == "VP8X" {
            guard found.readExtended(first.rest) else { return nil }
            // Chunks behind the length that the file states are none of its own.
            for chunk in chunks { found.take(chunk) }
        } else {
            found.takePixels(first)
            if let kind = found.unknownPixels { throw .corrupt(.WebP, reason: kind) }
        }
        guard let stored = found.size, !found.waitsForOrientation || file.isWhole else {
            return nil
        }
        var information = found.information
        information.size = stored.turned(by: information.orientation)
        information.bitsPerSample = 8
        information.hasGainMap = false
        information.isComplete = found.isComplete(in: file.bytes)
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

private struct WebPFindings {
    private(set) var size: PixelSize?
    private(set) var hasAlpha = false
    private(set) var isAnimated = false
    private(set) var information = ImageInformation(.WebP)
    private(set) var delays: [Double] = []
    private(set) var loopCount = 0
    /// The defect in the pixels of a file without other chunks.
    private(set) var unknownPixels: String?
    private var announcesEXIF = false
    private var hasEXIF = false
    private var lastEnd = 0

    private static let mostFrames = 65_536

    var waitsForOrientation: Bool { announcesEXIF && !hasEXIF }

    func isComplete(in bytes: UnsafeRawBufferPointer) -> Bool {
        lastEnd <= bytes.count && !waitsForOrientation
            && (!isAnimated || 8 + (bytes.littleEndian(4, 4) ?? 0) <= bytes.count + 1)
    }

    /// Flags, and the size of the canvas less one in 24 bits each.
    mutating func readExtended(_ header: UnsafeRawBufferPointer) -> Bool {
        guard let flags = header.byte(at: 0), let width = header.littleEndian(4, 3),
            let height = header.littleEndian(7, 3)
        else { return false }
        size = PixelSize(width: width + 1, height: height + 1)
        hasAlpha = flags & 0x10 != 0
        isAnimated = flags & 0x02 != 0
        announcesEXIF = flags & 0x08 != 0
        return true
    }

    mutating func take(_ chunk: WebPChunks.Chunk) {
        lastEnd = max(lastEnd, chunk.content.upperBound)
        let content = chunk.rest.slice(0, count: chunk.content.count)
        switch chunk.name {
        case "ANIM":
            loopCount = chunk.rest.littleEndian(4, 2) ?? 0
        case "ANMF" where isAnimated && delays.count < Self.mostFrames:
            readFrame(chunk)
        case "EXIF":
            guard announcesEXIF, !hasEXIF, let content else { return }
            hasEXIF = true
            information.orientation = EXIFBlock.orientation(in: content) ?? 1
            information.camera = ImageInformation.Camera(exif: content)
        case "ICCP":
            if information.colorProfile == nil, let content {
                information.colorProfile = .icc(name: ProfileName.of(content))
            }
        default:
            break
        }
    }

    /// Two halved offsets, width and height less one and milliseconds, in 24 bits each, and flags.
    private mutating func readFrame(_ chunk: WebPChunks.Chunk) {
        let frame = chunk.rest
        guard let width = frame.littleEndian(6, 3), let height = frame.littleEndian(9, 3),
            let delay = frame.littleEndian(12, 3)
        else { return }
        delays.append(Double(delay) / 1000)
        if PixelSize(width: width + 1, height: height + 1) != size { hasAlpha = true }
        for part in WebPChunks(frame, 16..<max(16, chunk.content.count)).prefix(2)
        where part.name == "ALPH"
            || part.name == "VP8L" && Self.lossless(part.rest)?.hasAlpha == true
        {
            hasAlpha = true
        }
    }

    /// A picture without any other chunk.
    mutating func takePixels(_ chunk: WebPChunks.Chunk) {
        lastEnd = chunk.content.upperBound
        let frame = chunk.rest
        switch chunk.name {
        case "VP8 ":
            guard let mark = frame.bigEndian(3, 3), let width = frame.littleEndian(6, 2),
                let height = frame.littleEndian(8, 2)
            else { return }
            guard mark == 0x9D012A else {
                unknownPixels = "its pixels do not begin as they should"
                return
            }
            // The upper two bits are for scaling.
            size = PixelSize(width: width & 0x3FFF, height: height & 0x3FFF)
        case "VP8L":
            guard let found = Self.lossless(frame) else { return }
            size = found.size
            hasAlpha = found.hasAlpha
        default:
            unknownPixels = "it has no pixels"
        }
    }

    /// A mark, width and height less one in 14 bits each, and a bit for opacity.
    private static func lossless(
        _ frame: UnsafeRawBufferPointer
    ) -> (size: PixelSize, hasAlpha: Bool)? {
        guard frame.byte(at: 0) == 0x2F, let bits = frame.littleEndian(1, 4) else { return nil }
        let size = PixelSize(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
        return (size, bits >> 28 & 1 == 1)
    }
}
