import Foundation

/// AVIF and HEIC files whose picture is a grid of others, box by box (ISO 14496-12, 23008-12).
enum TiledHEIF {
    /// A file without any pixels.
    ///
    /// - Parameters:
    ///   - brand: `avif` or `heic`.
    ///   - tiles: For each of the items the items that its grid is made of; the first is the picture. Others are
    ///     pictures without a place in the file.
    static func data(brand: String, tiles: [Int: [Int]], columns: Int, rows: Int) -> Data {
        let items = Array(1...(tiles.values.joined().max() ?? 1))
        let kind = brand == "avif" ? "av01" : "hvc1"
        var names = number(items.count, 2)
        for item in items {
            let type = tiles[item] == nil ? kind : "grid"
            names += full("infe", 2, number(item, 2) + number(0, 2) + text(type) + Data([0]))
        }
        var references = Data()
        for (item, parts) in tiles.sorted(by: { $0.key < $1.key }) {
            let ids = parts.map { number($0, 2) }.reduce(Data(), +)
            references += box("dimg", number(item, 2) + number(parts.count, 2) + ids)
        }
        let size = full("ispe", 0, number(64 * columns) + number(64 * rows))
        // Each has the first property.
        let sizes = items.map { number($0, 2) + Data([1, 1]) }.reduce(Data(), +)
        let properties = box(
            "iprp", box("ipco", size) + full("ipma", 0, number(items.count) + sizes))
        var grid = Data([0, 0, UInt8(rows - 1), UInt8(columns - 1)])
        grid += number(64 * columns, 2)
        grid += number(64 * rows, 2)
        var start = text(brand)
        start += number(0)
        start += text(brand)
        start = box("ftyp", start + text("mif1"))
        func meta(_ offset: Int) -> Data {
            var places = Data([0x44, 0]) + number(items.count, 2)
            for item in items {
                for (value, count) in [(item, 2), (0, 2), (1, 2), (offset, 4), (grid.count, 4)] {
                    places += number(value, count)
                }
            }
            var content = full("hdlr", 0, number(0) + text("pict") + Data(count: 13))
            content += full("pitm", 0, number(1, 2))
            content += full("iloc", 0, places)
            content += full("iinf", 0, names)
            content += full("iref", 0, references)
            return full("meta", 0, content + properties)
        }
        let offset = start.count + meta(0).count + 8
        return start + meta(offset) + box("mdat", grid)
    }

    private static func number(_ value: Int, _ count: Int = 4) -> Data {
        Data((0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
    }

    private static func text(_ text: String) -> Data { Data(text.utf8) }

    private static func box(_ name: String, _ content: Data) -> Data {
        number(8 + content.count) + text(name) + content
    }

    private static func full(_ name: String, _ version: UInt8, _ content: Data) -> Data {
        box(name, Data([version, 0, 0, 0]) + content)
    }
}
