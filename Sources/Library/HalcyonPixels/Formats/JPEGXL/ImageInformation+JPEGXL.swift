import Foundation

extension ImageInformation {
    /// Reads the header of the codestream (ISO/IEC 18181-1, D), on its own or in boxes.
    static func ofJPEGXL(_ file: FilePart) -> ImageInformation? {
        let boxes: JPEGXLBoxes
        if file.bytes.starts(with: [0xFF, 0x0A]) {
            boxes = JPEGXLBoxes(codestream: file.bytes)
        } else {
            guard let found = JPEGXLBoxes(file) else { return nil }
            boxes = found
        }
        guard let header = JPEGXLStreamHeader(boxes.codestream) else { return nil }
        var information = header.information
        information.size = information.size.turned(by: information.orientation)
        information.hasGainMap = boxes.hasGainMap
        information.camera = boxes.exif.flatMap(Camera.init(exif:))
        if !header.isAnimated { information.frameCount = 1 }
        information.isComplete =
            boxes.isComplete && information.hasAlpha != nil && (!header.isAnimated || file.isWhole)
        return information
    }
}

/// The content of the boxes of a JPEG XL file (ISO/IEC 18181-2).
private struct JPEGXLBoxes {
    /// The available part of the codestream's first piece.
    let codestream: UnsafeRawBufferPointer
    /// `nil` when a gain map may still come.
    private(set) var hasGainMap: Bool? = false
    /// A block of EXIF data; `nil` when there is none, or none that is not compressed.
    private(set) var exif: UnsafeRawBufferPointer?
    /// Whether boxes that are not there yet could tell no more.
    private(set) var isComplete = true

    init(codestream: UnsafeRawBufferPointer) {
        self.codestream = codestream
    }

    init?(_ file: FilePart) {
        var stream: UnsafeRawBufferPointer?
        for box in ISOBoxes(file.bytes) {
            switch box.type {
            case "jhgm": hasGainMap = true
            case "Exif" where exif == nil && box.available == box.content.count:
                // The block begins so many bytes behind these four.
                guard let gap = box.number(0, 4) else { break }
                exif = box.slice(4 + gap, count: box.available - 4 - gap)
            case "jxlc" where stream == nil, "jxlp" where stream == nil:
                // Pieces are numbered.
                let first = box.type == "jxlp" ? 4 : 0
                guard first < box.available else { return nil }
                stream = box.slice(first, count: box.available - first)
            default: break
            }
        }
        guard let stream else { return nil }
        codestream = stream
        isComplete = file.isWhole || exif != nil && hasGainMap == true
        if hasGainMap == false, !file.isWhole { hasGainMap = nil }
    }
}

/// The header of a JPEG XL codestream: size and image metadata.
private struct JPEGXLStreamHeader {
    /// With the size as stored.
    private(set) var information = ImageInformation(.JPEGXL)
    private(set) var isAnimated = false

    /// `nil` when the bytes end before what is needed to tell the size as shown.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var bits = Bits(bytes)
        guard bits.read(16) == 0x0AFF, let size = Self.size(&bits) else { return nil }
        information.size = size
        information.bitsPerSample = 8
        information.hasAlpha = false
        information.colorProfile = .coded(primaries: 1, transfer: 13)
        guard let isDefault = bits.flag() else { return nil }
        if isDefault { return }
        guard let hasExtra = bits.flag() else { return nil }
        if hasExtra {
            guard let turned = bits.read(3), let hasIntrinsic = bits.flag() else { return nil }
            information.orientation = turned + 1
            if hasIntrinsic { _ = Self.size(&bits) }
            if bits.flag() == true { Self.passPreview(&bits) }
            guard let animated = bits.flag() else { return nil }
            isAnimated = animated
            if animated { Self.passAnimation(&bits) }
        }
        information.bitsPerSample = Self.depth(&bits)
        readChannels(&bits)
    }

    /// Height, then width, or a ratio.
    private static func size(_ bits: inout Bits) -> PixelSize? {
        guard let isSmall = bits.flag(), let height = side(&bits, isSmall),
            let ratio = bits.read(3)
        else { return nil }
        if ratio == 0 {
            return side(&bits, isSmall).map { PixelSize(width: $0, height: height) }
        }
        let (over, under) = ratios[ratio - 1]
        return PixelSize(width: height * over / under, height: height)
    }

    private static let ratios = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)]

    private static func side(_ bits: inout Bits, _ isSmall: Bool) -> Int? {
        if isSmall { return bits.read(5).map { 8 * ($0 + 1) } }
        return bits.number([.bits(9, 1), .bits(13, 1), .bits(18, 1), .bits(30, 1)])
    }

    private static func passPreview(_ bits: inout Bits) {
        let isSmall = bits.flag() == true
        let choices: [Bits.Choice] =
            isSmall
            ? [.value(16), .value(32), .bits(5, 1), .bits(9, 33)]
            : [.bits(6, 1), .bits(8, 65), .bits(10, 321), .bits(12, 1345)]
        _ = bits.number(choices)
        if bits.read(3) == 0 { _ = bits.number(choices) }
    }

    private static func passAnimation(_ bits: inout Bits) {
        _ = bits.number([.value(100), .value(1000), .bits(10, 1), .bits(30, 1)])
        _ = bits.number([.value(1), .value(1001), .bits(8, 1), .bits(10, 1)])
        _ = bits.number([.value(0), .bits(3, 0), .bits(16, 0), .bits(32, 0)])
        _ = bits.flag()
    }

    private static func depth(_ bits: inout Bits) -> Int? {
        guard let isFloat = bits.flag() else { return nil }
        if !isFloat { return bits.number([.value(8), .value(10), .value(12), .bits(6, 1)]) }
        let depth = bits.number([.value(32), .value(16), .value(24), .bits(6, 1)])
        _ = bits.read(4)
        return depth
    }

    private static func enumerated(_ bits: inout Bits) -> Int? {
        bits.number([.value(0), .value(1), .bits(4, 2), .bits(6, 18)])
    }

    /// Extra channels, of which the kind 0 is opacity, and the colours behind them.
    private mutating func readChannels(_ bits: inout Bits) {
        _ = bits.flag()
        information.colorProfile = nil
        guard let count = bits.number([.value(0), .value(1), .bits(4, 2), .bits(12, 1)]) else {
            return information.hasAlpha = nil
        }
        for _ in 0..<count {
            guard let isDefault = bits.flag() else { return information.hasAlpha = nil }
            if isDefault {
                information.hasAlpha = true
                continue
            }
            guard let kind = Self.enumerated(&bits) else { return information.hasAlpha = nil }
            _ = Self.depth(&bits)
            _ = bits.number([.value(0), .value(3), .value(4), .bits(3, 1)])
            let name = bits.number([.value(0), .bits(4, 0), .bits(5, 16), .bits(10, 48)])
            for _ in 0..<(name ?? 0) { _ = bits.read(8) }
            switch kind {
            case 0:
                information.hasAlpha = true
                _ = bits.flag()
            case 2:
                for _ in 0..<4 { _ = bits.read(16) }
            case 5:
                _ = bits.number([.value(1), .bits(2, 0), .bits(4, 3), .bits(8, 19)])
            default: break
            }
        }
        readColours(&bits)
    }

    private mutating func readColours(_ bits: inout Bits) {
        _ = bits.flag()
        guard let isDefault = bits.flag() else { return }
        if isDefault { return information.colorProfile = .coded(primaries: 1, transfer: 13) }
        guard let hasProfile = bits.flag(), let space = Self.enumerated(&bits) else { return }
        // The profile is compressed, and its name with it.
        if hasProfile { return information.colorProfile = .icc(name: nil) }
        guard space == 0, Self.enumerated(&bits) == 1, let primaries = Self.enumerated(&bits),
            [1, 9, 11].contains(primaries), bits.flag() == false,
            let transfer = Self.enumerated(&bits)
        else { return }
        // D65 and the primaries called P3 are number 12 of H.273.
        information.colorProfile = .coded(
            primaries: primaries == 11 ? 12 : primaries, transfer: transfer)
    }

    /// Bits from the lowest of each byte on.
    private struct Bits {
        /// One of four ways in which a number is written.
        enum Choice {
            case value(Int)
            /// So many bits, and what is added to them.
            case bits(Int, Int)
        }

        private let bytes: UnsafeRawBufferPointer
        private var position = 0

        init(_ bytes: UnsafeRawBufferPointer) {
            self.bytes = bytes
        }

        mutating func flag() -> Bool? { read(1).map { $0 == 1 } }

        mutating func read(_ count: Int) -> Int? {
            guard position + count <= bytes.count * 8 else { return nil }
            var value = 0
            for index in 0..<count {
                let bit = bytes[(position + index) / 8] >> UInt8((position + index) % 8) & 1
                value |= Int(bit) << index
            }
            position += count
            return value
        }

        mutating func number(_ choices: [Choice]) -> Int? {
            guard let choice = read(2) else { return nil }
            switch choices[choice] {
            case .value(let value): return value
            case .bits(let count, let offset): return read(count).map { $0 + offset }
            }
        }
    }
}
