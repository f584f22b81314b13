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
