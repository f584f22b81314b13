import Foundation

/// The storage of a HEIF file's primary picture, and the meaning of its colours.
struct HEIFPicture {
    /// The kind of the item, such as `hvc1`; `nil` in a file without one.
    var type: String?
    /// The code points of ITU-T H.273 for primaries and transfer characteristics: those of a box count more than
    /// those of the bit stream.
    var colours: (primaries: Int, transfer: Int)? { boxColours ?? streamColours }
    private var boxColours: (primaries: Int, transfer: Int)?
    private var streamColours: (primaries: Int, transfer: Int)?
    /// Whether there is an ICC profile.
    private(set) var hasProfile = false
    /// Whether there is brightness alone.
    private(set) var isMonochrome = false
    /// By what an item without a codec is compressed as a whole, such as `defl`.
    private(set) var compression: String?

    /// For a whole file.
    init(_ file: Data) {
        self = file.withUnsafeBytes { bytes in
            let reader = ByteReader(bytes)
            guard let meta = ISOBoxes(reader).first("meta") else { return HEIFPicture() }
            return HEIFItems(meta.content, reader).primaryPicture
        }
    }

    init() {}

    mutating func take(_ property: ISOBoxes.Box, _ reader: ByteReader) {
        let start = property.content.lowerBound
        switch property.type {
        case "colr":
            switch HEIFColours(property, reader) {
            case .coded(let primaries, let transfer):
                if boxColours == nil { boxColours = (primaries, transfer) }
            case .profile: hasProfile = true
            case nil: break
            }
        // ISO/IEC 14496-15, 8.3.2.1, and the binding of AV1, 2.3.
        case "hvcC":
            isMonochrome = reader.byte(start + 16).map { $0 & 3 == 0 } ?? false
            if streamColours == nil { streamColours = HEVCColours.codes(property, reader) }
        case "av1C": isMonochrome = reader.byte(start + 2).map { $0 & 0x10 != 0 } ?? false
        case "cmpC":
            compression = reader.slice(start + 4, count: 4).map {
                String(decoding: $0, as: UTF8.self)
            }
        default: break
        }
    }

    /// The kind of a picture that libheif may not know, in words that follow "unsupported:"; `nil` for those that
    /// it always knows.
    var unusualKind: String? {
        let name: String
        switch type {
        case "unci":
            guard let compression else {
                return "its pixels are stored uncompressed (unci), which is not read"
            }
            let methods = ["defl": "deflate", "zlib": "zlib", "brot": "Brotli"]
            return "its uncompressed pixels (unci) are packed with "
                + "\(methods[compression] ?? compression), which is not read"
        case "mski": return "it is a mask (mski), which is not read"
        case "jpeg": name = "JPEG"
        case "j2k1": name = "JPEG 2000"
        case "avc1": name = "H.264"
        case "vvc1": name = "H.266"
        case "evc1": name = "EVC"
        case "lhv1": name = "layered H.265"
        default: return nil
        }
        return "its pixels are stored as \(name), which is not read"
    }
}

/// The contents of a box `colr` (ISO/IEC 14496-12, 12.1.5).
enum HEIFColours {
    /// The code points of ITU-T H.273.
    case coded(primaries: Int, transfer: Int)
    /// An ICC profile that begins at a place of the file.
    case profile(start: Int)

    init?(_ box: ISOBoxes.Box, _ reader: ByteReader) {
        let start = box.content.lowerBound
        guard let kind = reader.slice(start, count: 4) else { return nil }
        if kind.hasPrefix("nclx"), let primaries = reader.bigUInt16(start + 4),
            let transfer = reader.bigUInt16(start + 6)
        {
            self = .coded(primaries: primaries, transfer: transfer)
        } else if kind.hasPrefix("prof") || kind.hasPrefix("rICC") {
            self = .profile(start: start + 4)
        } else {
            return nil
        }
    }
}
