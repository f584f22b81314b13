import Foundation

/// Which pictures of a HEIF file are made of which others (`dimg`: grids, overlays, turned copies), and which are
/// auxiliary to others (`auxl`), as its item references tell (ISO/IEC 14496-12, 8.11.12).
///
/// libheif follows them without looking back: a grid that is its own tile ends the process, and grids of grids of
/// grids take for ever.
struct HEIFReferences {
    /// For each picture those that are decoded with it, one for each time.
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
            let reader = ByteReader(bytes)
            for meta in boxes(ISOBoxes(reader), "meta") {
                let inner = ISOBoxes(reader, meta.content, skipping: 4)
                for references in boxes(inner, "iref") { read(references, reader) }
            }
        }
    }

    private mutating func boxes(_ all: ISOBoxes, _ type: String) -> [ISOBoxes.Box] {
        let all = Array(all)
        if all.count >= Self.mostBoxes { isCut = true }
        return all.filter { $0.type == type }
    }

    private mutating func read(_ box: ISOBoxes.Box, _ reader: ByteReader) {
        let references = HEIFReference.all(in: box, reader)
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

/// Which items an item refers to, and as what.
struct HEIFReference {
    let type: String
    let from: Int
    let to: [Int]
    /// Whether the box has as many items as it says, and nothing else.
    let isWhole: Bool

    /// Those of an `iref` box.
    static func all(in box: ISOBoxes.Box, _ reader: ByteReader) -> [HEIFReference] {
        let length = reader.byte(box.content.lowerBound) == 0 ? 2 : 4
        return ISOBoxes(reader, box.content, skipping: 4).map { HEIFReference($0, length, reader) }
    }

    /// - Parameter length: Bytes of an item's number.
    private init(_ entry: ISOBoxes.Box, _ length: Int, _ reader: ByteReader) {
        type = entry.type
        let start = entry.content.lowerBound
        guard let from = reader.bigNumber(start, length),
            let count = reader.bigUInt16(start + length)
        else {
            (from, to, isWhole) = (0, [], false)
            return
        }
        self.from = from
        // A box may say that it is longer than it is, or than the file.
        let room = min(entry.content.upperBound, reader.count) - start - length - 2
        to = (0..<min(count, max(0, room) / length)).compactMap {
            reader.bigNumber(start + length + 2 + $0 * length, length)
        }
        isWhole = entry.content.count == length + 2 + count * length && to.count == count
    }
}
