import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Files that have a second picture with which a bright screen shows more, put together byte by byte.
@Suite struct GainMapTests {
    private static let adobe = "http://ns.adobe.com/hdr-gain-map/1.0/"
    private static let apple = "http://ns.apple.com/HDRGainMap/1.0/"

    private static func jpeg() throws -> Data {
        try Image.decoding(PNGFixture.data(.gradient(width: 16, height: 8))).kf.data(
            format: .JPEG, options: ImageEncodingOptions())
    }

    /// Puts a segment in front of all others.
    private static func adding(_ code: UInt8, _ content: Data, to jpeg: Data) -> Data {
        let head = [0xFF, code] + bigEndian(content.count + 2, 2)
        return jpeg.prefix(2) + head + content + jpeg.dropFirst(2)
    }

    private static func xmp(_ name: String) -> Data {
        Data("http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:hdrgm=\"\(name)\"/>".utf8)
    }

    private func hasGainMap(_ data: Data) throws -> Bool? {
        try ImageInformation(of: data).hasGainMap
    }

    @Test(arguments: [(adobe, true), (apple, true), ("http://ns.adobe.com/photoshop/1.0/", false)])
    func theXMPOfJPEGNamesIt(_ name: String, _ isOne: Bool) throws {
        let file = try Self.adding(0xE1, Self.xmp(name), to: Self.jpeg())
        #expect(try hasGainMap(file) == isOne)
    }

    @Test func theSegmentOfISO21496NamesIt() throws {
        let content = Data("urn:iso:std:iso:ts:21496:-1\0\0\0\0\0".utf8)
        #expect(try hasGainMap(Self.adding(0xE2, content, to: Self.jpeg())) == true)
        #expect(try hasGainMap(Self.jpeg()) == false)
    }

    /// A list of pictures (CIPA DC-007) says where the second one begins, and that one says what it is.
    @Test(arguments: [adobe, nil]) func theSecondPictureOfJPEGNamesIt(_ name: String?) throws {
        let plain = try Self.jpeg()
        let second = name.map { Self.adding(0xE1, Self.xmp($0), to: plain) } ?? plain
        func list(offset: Int) -> Data {
            func words(_ values: Int...) -> [UInt8] { values.flatMap { bigEndian($0, 2) } }
            func longs(_ values: Int...) -> [UInt8] { values.flatMap { bigEndian($0, 4) } }
            // Version, number of pictures, and 16 bytes for each of them at 50.
            var list = Array("MPF\0MM\0*".utf8) + longs(8)
            list += words(3, 0xB000, 7) + longs(4) + Array("0100".utf8)
            list += words(0xB001, 4) + longs(1, 2)
            list += words(0xB002, 7) + longs(32, 50, 0)
            return Data(list + longs(0x3_0000, 0, 0, 0, 0, second.count, offset, 0))
        }
        // Places count from behind "MPF\\0", which stands behind 6 bytes of marks.
        let length = Self.adding(0xE2, list(offset: 0), to: plain).count
        let file = Self.adding(0xE2, list(offset: length - 10), to: plain) + second
        #expect(try hasGainMap(file) == (name != nil))
        // Before the second picture has come it is not known.
        let beginning = try ImageInformation(ofPrefix: file.prefix(length))
        #expect(beginning?.hasGainMap == nil && beginning?.isComplete == false)
    }

    private static func heif() throws -> Data {
        try AVIFFixture().data(.solid(Pixel(9, 99, 200, 128), width: 16, height: 16))
    }

    @Test func anItemOfHEIFIsIt() throws {
        var file = try Self.heif()
        #expect(try hasGainMap(file) == false)
        // The last entry of the items, of which the type stands behind version, number and protection.
        let entry = try #require(file.range(of: Data("infe".utf8), options: .backwards)).upperBound
        file.replaceSubrange(entry + 8..<entry + 12, with: Data("tmap".utf8))
        #expect(try hasGainMap(file) == true)
    }

    /// As the telephones of Apple write it: a picture beside the picture whose name says what it is.
    @Test func anAuxiliaryPictureOfHEIFIsIt() throws {
        var file = try Self.heif()
        let opacity = Data("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha".utf8)
        let name = Data("urn:com:apple:photo:2020:aux:hdrgainmap".utf8)
        let place = try #require(file.range(of: opacity))
        file.replaceSubrange(place, with: name + Data(count: opacity.count - name.count))
        #expect(try hasGainMap(file) == true)
        #expect(try ImageInformation(of: file).hasAlpha == false)
    }

    @Test func aBoxOfJPEGXLIsIt() throws {
        var file = try JPEGXLFixture().data([0.5, 0.25, 1])
        #expect(try hasGainMap(file) == false)
        // Behind the signature of 12 bytes and the type of 20.
        file.insert(contentsOf: bigEndian(12, 4) + Array("jhgm".utf8) + [0, 0, 0, 0], at: 32)
        #expect(try hasGainMap(file) == true)
    }
}
