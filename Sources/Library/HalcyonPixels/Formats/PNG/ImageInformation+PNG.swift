import DirectCodecs
import Foundation

extension ImageInformation {
    /// Reads the chunks up to the pixels, and of an animation those that tell its times.
    static func ofPNG(_ file: FilePart) throws(ImageCodingError) -> ImageInformation? {
        let reader = file.reader
        guard reader.slice(12, count: 17) != nil else { return nil }
        guard reader.slice(12, count: 4)?.hasPrefix("IHDR") == true,
            let width = reader.bigUInt32(16), let height = reader.bigUInt32(20),
            let depth = reader.byte(24), let type = reader.byte(25)
        else { throw .corrupt(.PNG, reason: "it has no header") }
        var found = PNGFindings()
        found.walk(reader)
        guard found.hasPixels || file.isWhole else { return nil }

        let stored = PixelSize(width: Int(width), height: Int(height))
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
    private(set) var frameCount = 1
    private(set) var loopCount = 0
    private(set) var delays: [Double] = []

    mutating func walk(_ reader: ByteReader) {
        var offset = 8
        while let length = reader.bigUInt32(offset), let name = reader.slice(offset + 4, count: 4) {
            let start = offset + 8
            let isPixels = name.hasPrefix("IDAT")
            if isPixels { hasPixels = true }
            // Behind the pixels only an animation has anything to say.
            if isPixels || name.hasPrefix("IEND"), frameCount == 1 { return }
            guard let content = reader.slice(start, count: Int(length)) else { return }
            if !isPixels { take(name, content) }
            offset = start + Int(length) + 4
        }
    }

    private mutating func take(_ name: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer) {
        let reader = ByteReader(content)
        if name.hasPrefix("fcTL") {
            guard delays.count < APNGFile.mostFrames, let delay = reader.bigUInt16(20),
                let divisor = reader.bigUInt16(22)
            else { return }
            delays.append(Double(delay) / Double(divisor == 0 ? 100 : divisor))
        }
        if hasPixels { return }
        if name.hasPrefix("tRNS") {
            hasTransparency = true
        } else if name.hasPrefix("eXIf") {
            information.orientation = EXIFBlock.orientation(in: content) ?? 1
            information.camera = ImageInformation.Camera(exif: content)
        } else if name.hasPrefix("cICP"), ColourDescription(cICP: content) != nil,
            let primaries = reader.byte(0), let transfer = reader.byte(1)
        {
            // It counts more than what else there may be.
            information.colorProfile = .coded(primaries: Int(primaries), transfer: Int(transfer))
        } else if name.hasPrefix("iCCP"), information.colorProfile == nil {
            // The profile is compressed; its name stands before it.
            let profileName = ProfileName.printable(content.prefix(79).prefix { $0 != 0 })
            information.colorProfile = .icc(name: profileName)
        } else if name.hasPrefix("sRGB"), information.colorProfile == nil {
            information.colorProfile = .coded(primaries: 1, transfer: 13)
        } else if name.hasPrefix("acTL"), let count = reader.bigUInt32(0),
            let loops = reader.bigUInt32(4), count > 0, count <= APNGFile.mostFrames
        {
            frameCount = Int(count)
            loopCount = Int(loops)
        }
    }
}
