import DirectCodecs
import Foundation

extension ImageInformation {
    /// Reads the chunks up to the pixels, and of an animation those that tell its times.
    static func ofPNG(_ file: FilePart) throws(ImageCodingError) -> ImageInformation? {
        let bytes = file.bytes
        guard bytes.slice(12, count: 17) != nil else { return nil }
        guard bytes.hasText("IHDR", at: 12),
            let width = bytes.bigEndian(16, 4), let height = bytes.bigEndian(20, 4),
            let depth = bytes.byte(at: 24), let type = bytes.byte(at: 25)
        else { throw .corrupt(.PNG, reason: "it has no header") }
        var found = PNGFindings()
        found.walk(bytes)
        guard found.hasPixels || file.isWhole else { return nil }

        let stored = PixelSize(width: width, height: height)
        var information = found.information
        information.size = stored.turned(by: information.orientation)
        information.bitsPerSample = type == 3 ? 8 : Int(depth)
        information.hasAlpha = type & 4 != 0 || found.hasTransparency
        information.hasGainMap = false
        information.frameCount = found.frameCount
        if found.delays.count == found.frameCount {
            information.animation = AnimationTiming(
                stored: found.delays, loopCount: found.loopCount)
        }
        information.isComplete =
            found.hasPixels && (found.frameCount == 1 || information.animation != nil)
        if information.animation != nil { information.readFrames(file) }
        return information
    }
}

extension ImageInformation {
    /// Frames may leave a part of the canvas free. What is wrong with them makes a file incomplete.
    private mutating func readFrames(_ file: FilePart) {
        do {
            let frames = try APNGFile(file.bytes)
            hasAlpha = frames?.hasAlpha(hasAlpha ?? false) ?? hasAlpha
        } catch {
            isComplete = false
        }
    }
}

/// The findings from the chunks of a PNG file.
private struct PNGFindings {
    /// Orientation, camera and profile.
    private(set) var information = ImageInformation(.PNG)
    private(set) var hasTransparency = false
    private(set) var hasPixels = false
    private var hasEXIF = false
    private(set) var frameCount = 1
    private(set) var loopCount = 0
    private(set) var delays: [Double] = []

    mutating func walk(_ bytes: UnsafeRawBufferPointer) {
        var offset = 8
        while let length = bytes.bigEndian(offset, 4), let name = bytes.slice(offset + 4, count: 4)
        {
            let start = offset + 8
            let isPixels = name.hasText("IDAT")
            if isPixels { hasPixels = true }
            // Behind the pixels only an animation has anything to say.
            if isPixels || name.hasText("IEND"), frameCount == 1 { return }
            guard let content = bytes.slice(start, count: length) else { return }
            offset = start + length + 4
            if isPixels { continue }
            // Decoders pass over metadata whose checksum is wrong, what is no profile, and a second block.
            let isProfile = name.hasText("iCCP")
            if isProfile || name.hasText("eXIf") {
                let isIntact =
                    bytes.slice(start - 4, count: length + 4)?.crc32
                    == bytes.bigEndian(start + length, 4).map(UInt32.init)
                guard isIntact,
                    isProfile ? content.isProfile(ofPNG: bytes) : !hasEXIF && !content.isEmpty
                else { continue }
                if !isProfile { hasEXIF = true }
            }
            take(name, content)
        }
    }

    private mutating func take(_ name: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer) {
        if name.hasText("fcTL") {
            guard delays.count < APNGFile.mostFrames, let delay = content.bigEndian(20, 2),
                let divisor = content.bigEndian(22, 2)
            else { return }
            delays.append(Double(delay) / Double(divisor == 0 ? 100 : divisor))
        }
        if hasPixels { return }
        if name.hasText("tRNS") {
            hasTransparency = true
        } else if name.hasText("eXIf") {
            information.orientation = EXIFBlock.orientation(in: content) ?? 1
            information.camera = ImageInformation.Camera(exif: content)
        } else if name.hasText("cICP"), ColourDescription(cICP: content) != nil,
            let primaries = content.byte(at: 0), let transfer = content.byte(at: 1)
        {
            // It counts more than what else there may be.
            information.colorProfile = .coded(primaries: Int(primaries), transfer: Int(transfer))
        } else if name.hasText("iCCP"), information.colorProfile == nil {
            // The profile is compressed; its name stands before it.
            let profileName = ProfileName.printable(content.prefix(79).prefix { $0 != 0 })
            information.colorProfile = .icc(name: profileName)
        } else if name.hasText("sRGB"), information.colorProfile == nil {
            information.colorProfile = .coded(primaries: 1, transfer: 13)
        } else if name.hasText("acTL"), let count = content.bigEndian(0, 4),
            let loops = content.bigEndian(4, 4), count > 0, count <= APNGFile.mostFrames
        {
            (frameCount, loopCount) = (count, loops)
        }
    }
}
