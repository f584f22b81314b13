import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import HalcyonPixels

/// HEIF files of one item, put together by hand from boxes (ISO/IEC 14496-12, 8.11).
struct HEIFFixture {
    /// Such as `hvc1`.
    var type: String
    /// Whole boxes, all of which belong to the item.
    var properties: [Data]
    var pixels: Data

    var data: Data {
        let number = Self.number
        let brands = Data("mif1".utf8) + number(0, 4) + Data("mif1".utf8)
        let item = Self.box(
            "infe", number(2 << 24, 4) + number(1, 2) + number(0, 2) + Data((type + "\0").utf8))
        let handler = number(0, 8) + Data("pict".utf8) + Data(count: 13)
        let owned = Data([UInt8(properties.count)]) + Data((1...properties.count).map(UInt8.init))
        let owners = number(0, 4) + number(1, 4) + number(1, 2) + owned
        let fixed = [
            number(0, 4), Self.box("hdlr", handler), Self.box("pitm", number(0, 4) + number(1, 2)),
            Self.box("iinf", number(0, 4) + number(1, 2) + item),
            Self.box(
                "iprp", Self.box("ipco", properties.reduce(Data(), +)) + Self.box("ipma", owners)),
        ].reduce(Data(), +)
        func meta(_ place: Int) -> Data {
            // Offsets and lengths of four bytes, one item in one piece.
            var location = number(0, 4) + Data([0x44, 0]) + number(1, 2) + number(1, 2)
            location += number(0, 2) + number(1, 2) + number(place, 4) + number(pixels.count, 4)
            return Self.box("meta", fixed + Self.box("iloc", location))
        }
        let start = Self.box("ftyp", brands)
        return start + meta(start.count + meta(0).count + 8) + Self.box("mdat", pixels)
    }

    static func box(_ type: String, _ content: Data) -> Data {
        number(8 + content.count, 4) + Data(type.utf8) + content
    }

    static func number(_ value: Int, _ length: Int) -> Data { Data(bigEndian(value, length)) }

    static func size(_ width: Int, _ height: Int) -> Data {
        box("ispe", number(0, 4) + number(width, 4) + number(height, 4))
    }

    /// The box that says what colours mean, by the numbers of ITU-T H.273.
    static func colours(primaries: Int, transfer: Int) -> Data {
        box(
            "colr",
            Data("nclx".utf8) + number(primaries, 2) + number(transfer, 2) + number(6, 2)
                + Data([0x80]))
    }

    static func profile(_ profile: Data) -> Data { box("colr", Data("prof".utf8) + profile) }

    /// A picture as libheif writes it without loss, with other boxes for what its colours mean. How brightness and
    /// colour are told apart stays what it is in the file that was written: newer libraries write red, green and blue.
    ///
    /// - Parameter saysGrey: Whether the description of the codec says that there is brightness alone.
    init(_ image: VipsImage, bits: Int = 8, colours: [Data], saysGrey: Bool = false) throws {
        let file = try image.encoded(
            "heifsave_buffer",
            ["compression": "hevc", "lossless": true, "bitdepth": .int(bits), "strip": true])
        func number(_ place: Int, _ length: Int) -> Int {
            file[place..<place + length].reduce(0) { $0 << 8 | Int($1) }
        }
        let codec = try #require(file.range(of: Data("hvcC".utf8)))
        let start = codec.lowerBound - 4
        var description = Data(file[start..<start + number(start, 4)])
        if saysGrey { description[8 + 16] = 0xFC }
        let table = try #require(file.range(of: Data("iloc".utf8))).upperBound
        // Items in the file itself have a number more from the first version on.
        let base = number(table + 5, 1) >> 4
        let entry = table + 8 + (number(table, 1) == 0 ? 0 : 2) + 4
        let offset = number(entry, base) + number(entry + base + 2, 4)
        let length = number(entry + base + 6, 4)
        type = "hvc1"
        let matrix = file.range(of: Data("nclx".utf8)).map { number($0.upperBound + 4, 2) } ?? 6
        let meanings = colours.map { box in
            guard box[4..<12] == Data("colrnclx".utf8) else { return box }
            return box.prefix(16) + Self.number(matrix, 2) + box.dropFirst(18)
        }
        properties = [description] + meanings + [Self.size(image.width, image.height)]
        pixels = Data(file[offset..<offset + length])
    }

    init(type: String, properties: [Data], pixels: Data) {
        (self.type, self.properties, self.pixels) = (type, properties, pixels)
    }
}

/// A smallest grey ICC profile of version 2, whose light is the sample to a power (ICC.1:2001).
enum GreyProfileFixture {
    static func data(gamma: Double) -> Data {
        func fixed(_ values: [Double]) -> Data {
            values.map { HEIFFixture.number(Int(($0 * 65536).rounded()), 4) }.reduce(Data(), +)
        }
        let number = HEIFFixture.number
        let white = Data("XYZ ".utf8) + number(0, 4) + fixed([0.9642, 1, 0.8249])
        let curve =
            Data("curv".utf8) + number(0, 4) + number(1, 4)
            + number(Int((gamma * 256).rounded()), 2) + Data(count: 2)
        let start = 128 + 4 + 2 * 12
        var header = number(start + white.count + curve.count, 4) + number(0, 4)
        header += Data([2, 0x10, 0, 0]) + Data("mntrGRAYXYZ ".utf8) + Data(count: 12)
        header += Data("acsp".utf8) + Data(count: 28) + fixed([0.9642, 1, 0.8249])
        header += Data(count: 128 - header.count)
        let table =
            number(2, 4) + Data("wtpt".utf8) + number(start, 4) + number(white.count, 4)
            + Data("kTRC".utf8) + number(start + white.count, 4) + number(curve.count - 2, 4)
        return header + table + white + curve
    }
}
