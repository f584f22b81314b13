import Foundation

/// What a HEIF file (ISO/IEC 23008-12) states in its item properties and libvips does not pass on.
struct HEIFProperties {
    /// libheif refuses larger images, whatever the memory.
    static let longestReadableSide = 16384

    /// The largest size in an `ispe` box; `nil` when there is none.
    private(set) var largestSize: PixelSize?

    /// Whether a `colr` box names Display P3 with the curve of sRGB (ISO/IEC 23091-2: colour primaries
    /// 12, transfer characteristics 13).
    private(set) var isDisplayP3 = false

    /// Item properties stand near the start of a file.
    private static let searchLimit = 256 << 10
    private static let ispe: UInt32 = 0x6973_7065
    private static let colr: UInt32 = 0x636F_6C72
    private static let nclx: UInt32 = 0x6E63_6C78

    init(_ data: Data) {
        data.withUnsafeBytes { bytes in
            let bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.searchLimit))
            let reader = ByteReader(bytes)
            // Boxes may stand at any byte.
            for place in 4..<max(4, bytes.count) {
                guard bytes[place] == UInt8(ascii: "i") || bytes[place] == UInt8(ascii: "c") else {
                    continue
                }
                switch reader.bigUInt32(place) {
                case Self.ispe: readSize(reader, place)
                case Self.colr: readColour(reader, place)
                default: break
                }
            }
        }
    }

    /// Size and name of the box, four bytes of version and flags, width and height.
    private mutating func readSize(_ reader: ByteReader, _ place: Int) {
        guard reader.bigUInt32(place - 4) == 20, let width = reader.bigUInt32(place + 8),
            let height = reader.bigUInt32(place + 12)
        else { return }
        let size = PixelSize(width: Int(width), height: Int(height))
        if largestSize.map({ $0.longestSide < size.longestSide }) ?? true { largestSize = size }
    }

    private mutating func readColour(_ reader: ByteReader, _ place: Int) {
        if reader.bigUInt32(place + 4) == Self.nclx, reader.bigUInt16(place + 8) == 12,
            reader.bigUInt16(place + 10) == 13
        {
            isDisplayP3 = true
        }
    }
}
