import Foundation

/// What a HEIF file (ISO/IEC 23008-12) states in its item properties and libvips does not pass on.
struct HEIFProperties {
    /// libheif refuses larger images, whatever the memory.
    static let longestReadableSide = 16384

    /// Major brands of files that play.
    static let sequenceBrands: Set<String> = [
        "avis", "hevc", "hevx", "hevm", "hevs", "msf1",
    ]

    /// The largest size in an `ispe` box; `nil` when there is none.
    private(set) var largestSize: PixelSize?

    /// The size in an `ispe` box that has most pixels, which are decoded even if most of them are cut off.
    private(set) var storedSize: PixelSize?

    /// Whether an `auxC` box says that a picture is the opacity of another.
    private(set) var hasAlpha = false

    /// Item properties stand near the start of a file.
    private static let searchLimit = 256 << 10
    private static let ispe: UInt32 = 0x6973_7065
    private static let auxC: UInt32 = 0x6175_7843
    private static let alphaNames = [
        "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1",
    ]

    init(_ data: Data) {
        data.withUnsafeBytes { bytes in
            let bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.searchLimit))
            let reader = ByteReader(bytes)
            // Boxes may stand at any byte.
            for place in 4..<max(4, bytes.count) {
                guard bytes[place] == 0x61 || bytes[place] == 0x69 else { continue }
                switch reader.bigUInt32(place) {
                case Self.ispe: readSize(reader, place)
                case Self.auxC where Self.namesAlpha(reader, place): hasAlpha = true
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
        let most = storedSize.map { $0.width.clampedTimes($0.height) } ?? 0
        if size.width.clampedTimes(size.height) > most { storedSize = size }
    }

    /// Four bytes of version and flags, and a name that ends with a zero.
    private static func namesAlpha(_ reader: ByteReader, _ place: Int) -> Bool {
        alphaNames.contains { name in
            reader.slice(place + 8, count: name.utf8.count)?.elementsEqual(name.utf8) ?? false
        }
    }
}

/// The `ftyp` box that files of the ISO media family begin with: AVIF, HEIC, but videos too.
struct ISOMediaBrands {
    /// The major brand, then the compatible ones.
    let brands: [String]

    /// No more brands than this are looked at.
    private static let brandLimit = 64

    /// `nil` when `bytes` do not begin with an `ftyp` box.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 12, Self.code(bytes, at: 4) == "ftyp" else { return nil }
        let size = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self)))
        var brands = [Self.code(bytes, at: 8)]
        // The four bytes after the major brand are its version.
        var offset = 16
        while offset + 4 <= min(size, bytes.count), brands.count < Self.brandLimit {
            brands.append(Self.code(bytes, at: offset))
            offset += 4
        }
        self.brands = brands
    }

    /// AVIF or HEIC by the first brand that says so. The brands that only say "some still images in
    /// HEIF" decide when no other does.
    var imageFormat: ImageFormat? {
        for brand in brands {
            switch brand {
            case "avif", "avis": return .AVIF
            case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs": return .HEIC
            default: continue
            }
        }
        return brands[0] == "mif1" || brands[0] == "msf1" ? .HEIC : nil
    }

    private static func code(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> String {
        String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
    }
}
