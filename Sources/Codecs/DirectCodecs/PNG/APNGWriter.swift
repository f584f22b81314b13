import CCodecs

/// Writes animated PNG files: of each frame the rectangle in which it differs from the one before, which is
/// replaced. Programs that know nothing of animations show the first frame.
package struct APNGWriter {
    private let width: Int
    private let height: Int
    private let channels: Int
    private var file: [UInt8]
    private var sequence: UInt32 = 0

    /// - Parameters:
    ///   - channels: 3 (RGB) or 4 (RGBA, straight), of the pixels of all frames.
    ///   - frameCount: The number of frames that will be appended.
    ///   - loopCount: The number of times they are shown; 0 means forever.
    ///   - exif: Without "Exif" before it.
    /// - Returns: `nil` when the picture is too large to be compressed at once.
    package init?(
        width: Int, height: Int, channels: Int, frameCount: Int, loopCount: Int,
        profile: [UInt8]? = nil, exif: [UInt8]? = nil, xmp: [UInt8]? = nil
    ) {
        guard width > 0, height > 0, channels == 3 || channels == 4, frameCount > 0,
            width * channels + 1 <= PNGWriter.largestStream / height
        else { return nil }
        self.width = width
        self.height = height
        self.channels = channels
        file = PNGChunks.signature
        file.appendHeader(width: width, height: height, channels: channels)
        file.append(profile: profile, exif: exif, xmp: xmp)
        file.appendChunk("acTL") { data in
            data.append(bigEndian: UInt32(clamping: frameCount))
            data.append(bigEndian: UInt32(clamping: min(loopCount, Int(Int32.max))))
        }
    }

    /// Appends a frame.
    ///
    /// - Parameters:
    ///   - pixels: `width × height × channels` bytes.
    ///   - previous: The pixels of the frame before; `nil` for the first one.
    /// - Returns: Whether there was memory for that.
    package mutating func append(
        _ pixels: UnsafePointer<UInt8>, after previous: UnsafePointer<UInt8>?, seconds: Double
    ) -> Bool {
        let area = area(pixels, after: previous)
        let row = width * channels
        let stream = PNGWriter.stream(
            of: pixels + Int(area.top) * row + Int(area.left) * channels, bytesPerRow: row,
            width: Int(area.width), height: Int(area.height), channels: channels, stored: channels)
        guard let stream else { return false }
        let number = takeNumber()
        file.appendChunk("fcTL") { data in
            data.append(bigEndian: number)
            for value in [area.width, area.height, area.left, area.top] {
                data.append(bigEndian: UInt32(value))
            }
            let delay = Delay(seconds)
            data.append(bigEndian: delay.count)
            data.append(bigEndian: delay.perSecond)
            // It stays where it is, and replaces what was there.
            data.append(contentsOf: [0, 0])
        }
        if previous == nil {
            file.appendChunk("IDAT") { $0.append(contentsOf: stream) }
        } else {
            let number = takeNumber()
            file.appendChunk("fdAT") { data in
                data.append(bigEndian: number)
                data.append(contentsOf: stream)
            }
        }
        return true
    }

    package func finished() -> [UInt8] {
        var file = file
        file.appendChunk("IEND") { _ in }
        return file
    }

    private mutating func takeNumber() -> UInt32 {
        defer { sequence += 1 }
        return sequence
    }

    /// The area to write; a single pixel for a frame equal to the one before.
    private func area(
        _ pixels: UnsafePointer<UInt8>, after previous: UnsafePointer<UInt8>?
    ) -> cpng_area {
        guard let previous else {
            return cpng_area(left: 0, top: 0, width: Int32(width), height: Int32(height))
        }
        let area = cpng_difference(
            previous, pixels, Int32(width), Int32(height), Int32(channels))
        return area.width > 0 ? area : cpng_area(left: 0, top: 0, width: 1, height: 1)
    }
}

/// The time of a frame as a fraction of 16-bit numbers: milliseconds, and of longer times coarser parts.
private struct Delay {
    let count: UInt16
    let perSecond: UInt16

    init(_ seconds: Double) {
        let seconds = seconds.isNaN ? 0 : max(0, seconds)
        let parts: [UInt16] = [1000, 100, 10, 1]
        perSecond = parts.first { (seconds * Double($0)).rounded() <= 65535 } ?? 1
        count = UInt16(min(65535, (seconds * Double(perSecond)).rounded()))
    }
}

extension [UInt8] {
    fileprivate mutating func append(profile: [UInt8]?, exif: [UInt8]?, xmp: [UInt8]?) {
        if let profile, !profile.isEmpty,
            let stream = PNGWriter.compressed(profile, count: profile.count, level: 9)
        {
            appendChunk("iCCP") { data in
                // A name, which nobody reads, and the kind of compression.
                data.append(contentsOf: "icc".utf8)
                data.append(contentsOf: [0, 0])
                data.append(contentsOf: stream)
            }
        }
        if let exif { appendChunk("eXIf") { $0.append(contentsOf: exif) } }
        if let xmp {
            appendChunk("iTXt") { data in
                data.append(contentsOf: "XML:com.adobe.xmp".utf8)
                // Not compressed; neither a language nor a translated name.
                data.append(contentsOf: [0, 0, 0, 0, 0])
                data.append(contentsOf: xmp)
            }
        }
    }
}
