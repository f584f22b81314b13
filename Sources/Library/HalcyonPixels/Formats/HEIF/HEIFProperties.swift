import DirectCodecs
import Foundation

/// The item properties of a HEIF file (ISO/IEC 23008-12) that libvips does not pass on.
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
    private static let alphaNames: [StaticString] = [
        "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1",
    ]

    init(_ data: Data) {
        data.withUnsafeBytes { bytes in
            let bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.searchLimit))
            // Boxes may stand at any byte.
            for place in 4..<max(4, bytes.count) {
                guard bytes[place] == 0x61 || bytes[place] == 0x69 else { continue }
                if bytes.hasText("ispe", at: place) { readSize(bytes, place) }
                // Four bytes of version and flags, and a name that ends with a zero.
                if bytes.hasText("auxC", at: place),
                    Self.alphaNames.contains(where: { bytes.hasText($0, at: place + 8) })
                {
                    hasAlpha = true
                }
            }
        }
    }

    /// Size and name of the box, four bytes of version and flags, width and height.
    private mutating func readSize(_ bytes: UnsafeRawBufferPointer, _ place: Int) {
        guard bytes.bigEndian(place - 4, 4) == 20, let width = bytes.bigEndian(place + 8, 4),
            let height = bytes.bigEndian(place + 12, 4)
        else { return }
        let size = PixelSize(width: width, height: height)
        if largestSize.map({ $0.longestSide < size.longestSide }) ?? true { largestSize = size }
        let most = storedSize.map { $0.width.clampedTimes($0.height) } ?? 0
        if size.width.clampedTimes(size.height) > most { storedSize = size }
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
        guard bytes.fourLetters(4) == "ftyp", let size = bytes.bigEndian(0, 4),
            let major = bytes.fourLetters(8)
        else { return nil }
        var brands = [major]
        // The four bytes after the major brand are its version.
        var offset = 16
        while offset + 4 <= size, brands.count < Self.brandLimit,
            let brand = bytes.fourLetters(offset)
        {
            brands.append(brand)
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
}

/// Which pictures of a HEIF file are made of which others (`dimg`: grids, overlays, turned copies), and which are
/// auxiliary to others (`auxl`), as its item references tell (ISO/IEC 14496-12, 8.11.12).
///
/// libheif follows them without looking back: a grid that is its own tile ends the process, and grids of grids of
/// grids take for ever.
struct HEIFReferences {
    /// The pictures that are decoded with each picture, one entry per reference.
    private var parts: [Int: [Int]] = [:]
    /// Whether there are more boxes than are looked at.
    private var isCut = false
    /// Whether a reference has more or fewer items than there is room for: libheif goes by the number and passes over
    /// the length, so that it would find other references than are found here.
    private var isMisled = false

    /// A photograph of 200 megapixels has some 800 tiles.
    static let mostPictures = 65536
    private static let mostBoxes = 4096

    init(_ data: Data) {
        data.withUnsafeBytes { bytes in
            for meta in boxes(ISOBoxes(bytes), "meta") {
                for references in boxes(meta.boxes(skipping: 4), "iref") { read(references) }
            }
        }
    }

    private mutating func boxes(_ all: ISOBoxes, _ type: String) -> [ISOBoxes.Box] {
        let all = Array(all)
        if all.count >= Self.mostBoxes { isCut = true }
        return all.filter { $0.type == type }
    }

    private mutating func read(_ box: ISOBoxes.Box) {
        let references = HEIFReference.all(in: box)
        if references.count >= Self.mostBoxes { isCut = true }
        for reference in references {
            if !reference.isWhole { isMisled = true }
            switch reference.type {
            case "dimg" where !reference.to.isEmpty:
                parts[reference.from, default: []] += reference.to
            case "auxl":
                for target in reference.to { parts[target, default: []].append(reference.from) }
            default: break
            }
        }
    }

    /// Why none of the pictures may be decoded, in words that follow "the file is damaged:".
    var refusal: String? {
        if isCut { return "it has more than \(Self.mostBoxes) boxes of one kind" }
        if isMisled { return "one of its references is not as long as it says" }
        // Whoever has no parts left is done, and then perhaps those that it is a part of.
        var wholes: [Int: [Int]] = [:]
        var missing = parts.mapValues(\.count)
        for (whole, parts) in parts {
            for part in parts { wholes[part, default: []].append(whole) }
        }
        var counts: [Int: Int] = [:]
        var ready = wholes.keys.filter { missing[$0] == nil }
        var leftCount = parts.count
        while let done = ready.popLast() {
            let count = counts[done, default: 0] + 1
            for whole in wholes[done] ?? [] {
                counts[whole] = min((counts[whole] ?? 0) + count, Self.mostPictures + 1)
                missing[whole, default: 1] -= 1
                guard missing[whole] == 0 else { continue }
                ready.append(whole)
                leftCount -= 1
                if counts[whole] ?? 0 > Self.mostPictures {
                    return "a picture of it is made of more than \(Self.mostPictures) others"
                }
            }
        }
        return leftCount > 0 ? "a picture of it is made of itself" : nil
    }
}

struct HEIFReference {
    let type: String
    let from: Int
    let to: [Int]
    /// Whether the box has as many items as it says, and nothing else.
    let isWhole: Bool

    static func all(in box: ISOBoxes.Box) -> [HEIFReference] {
        let length = box.byte(0) == 0 ? 2 : 4
        return box.boxes(skipping: 4).map { HEIFReference($0, length) }
    }

    /// - Parameter length: Bytes of an item's number.
    private init(_ entry: ISOBoxes.Box, _ length: Int) {
        type = entry.type
        guard let from = entry.number(0, length), let count = entry.number(length, 2) else {
            (from, to, isWhole) = (0, [], false)
            return
        }
        self.from = from
        // A box may say that it is longer than it is, or than the file.
        let room = entry.available - length - 2
        to = (0..<min(count, max(0, room) / length)).compactMap {
            entry.number(length + 2 + $0 * length, length)
        }
        isWhole = entry.content.count == length + 2 + count * length && to.count == count
    }
}
