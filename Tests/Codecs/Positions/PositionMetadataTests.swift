import DirectCodecs
import Foundation
import HalcyonTestKit
import Testing

/// What of a file tells where it was taken is removed, and nothing else.
@Suite struct PositionMetadataTests {
    /// A block with orientation 6, an artist and a position: 51°28′38″ as three rationals, `51/1`…
    private func block(littleEndian: Bool = true) -> [UInt8] {
        func number(_ value: Int, _ length: Int) -> [UInt8] {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return littleEndian ? bytes : bytes.reversed()
        }
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            number(tag, 2) + number(type, 2) + number(count, 4) + value
        }
        var bytes = Array((littleEndian ? "II" : "MM").utf8) + number(42, 2) + number(8, 4)
        bytes += number(3, 2)
        bytes += entry(0x0112, 3, 1, number(6, 2) + [0, 0])
        bytes += entry(0x8825, 4, 1, number(58, 4))
        bytes += entry(0x013B, 2, 7, number(50, 4))
        bytes += number(0, 4)
        bytes += Array("secret".utf8) + [0, 0]
        bytes += number(2, 2)
        bytes += entry(0x0001, 2, 2, Array("N".utf8) + [0, 0, 0])
        bytes += entry(0x0002, 5, 3, number(88, 4))
        bytes += number(0, 4)
        for value in [51, 1, 28, 1, 38, 1] { bytes += number(value, 4) }
        return bytes
    }

    private func position(in block: [UInt8]) -> ArraySlice<UInt8> { block[58...] }

    @Test(arguments: [true, false])
    func theDirectoryOfAJPEGFileIsEmptied(littleEndian: Bool) throws {
        let block = block(littleEndian: littleEndian)
        let exif = Array("Exif\0\0".utf8) + block
        let rest: [UInt8] = [0xFF, 0xDB, 0, 4, 1, 2, 0xFF, 0xD9]
        let file = Data([0xFF, 0xD8, 0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif + rest)
        let cleaned = PositionMetadata.removed(from: file)
        #expect(cleaned.count == file.count)
        #expect(cleaned.suffix(rest.count) == file.suffix(rest.count))
        let kept = Array(cleaned.dropFirst(12).prefix(block.count))
        #expect(kept.withUnsafeBytes { EXIFBlock.orientation(in: $0) } == 6)
        #expect(cleaned.range(of: Data("secret".utf8)) != nil)
        #expect(position(in: kept).allSatisfy { $0 == 0 })
        // Two entries are left, and no pointer.
        #expect(kept[littleEndian ? 8 : 9] == 2)
        #expect(cleaned.range(of: Data(littleEndian ? [0x25, 0x88] : [0x88, 0x25])) == nil)
    }

    @Test func removingASecondTimeChangesNothing() {
        let file = Data(Array("RIFF....WEBPEXIF....".utf8) + block())
        let cleaned = PositionMetadata.removed(from: file)
        #expect(cleaned != file)
        #expect(PositionMetadata.removed(from: cleaned) == cleaned)
    }

    @Test func aFileWithoutAPositionKeepsItsBytes() {
        for file in [Data(), Data([1, 2, 3]), PNGFixture.solid(.red, width: 9, height: 9)] {
            #expect(PositionMetadata.removed(from: file) == file)
        }
    }

    @Test func propertiesOfXMPAreBlanked() throws {
        let packet = """
            <rdf:Description exif:GPSLatitude="51,28.6N" dc:creator='me' exif:GPSLongitude = '0,0W'>\
            <exif:GPSAltitude>45/1</exif:GPSAltitude><exif:GPSVersionID rdf:value="2"/>\
            <tiff:Make>GPS:GPS maker</tiff:Make><a:GPSTag><b>51</b></a:GPSTag></rdf:Description>
            """
        let cleaned = PositionMetadata.removed(from: Data("\u{1}\u{2}\(packet)".utf8))
        #expect(cleaned.count == packet.utf8.count + 2)
        let text = String(decoding: cleaned, as: UTF8.self)
        for secret in ["51", "45", "0,0W", "Latitude", "Altitude", "rdf:value"] {
            #expect(!text.contains(secret), "\(secret)")
        }
        for kept in ["dc:creator='me'", "GPS:GPS maker", "</rdf:Description>"] {
            #expect(text.contains(kept), "\(kept)")
        }
    }

    @Test(arguments: [
        "<a exif:GPSAltitude='1 b='hf:GPSLatitude='1,2 c='d'/>",
        "<a exif:GPSMapDatum exif:GPSAltitude='1'='2'/>",
    ])
    func whatAPositionHidAsItWasOverwrittenGoesAsWell(_ packet: String) {
        let cleaned = PositionMetadata.removed(from: Data(packet.utf8))
        #expect(cleaned.count == packet.utf8.count)
        #expect(!String(decoding: cleaned, as: UTF8.self).contains("GPS"))
    }

    @Test func chunksOfPNGFilesStayValid() throws {
        let xmp = "XML:com.adobe.xmp\0\0\0\0\0" + #"<a exif:GPSLatitude="51,28.6N" b="c"/>"#
        func file(_ chunks: (type: String, data: Data)...) -> Data {
            PNGFixture.data(
                .gradient(width: 9, height: 7),
                chunks: chunks.map { .init(type: $0.type, data: $0.data) })
        }
        let title = Data("Title\0kept".utf8)
        let cleaned = PositionMetadata.removed(
            from: file(
                ("eXIf", Data(block())), ("iTXt", Data(xmp.utf8)),
                ("iTXt", Data("XML:com.adobe.xmp\0\u{1}\0\0\0rubbish".utf8)),
                ("tEXt", Data("Raw profile type exif\0 51".utf8)), ("tEXt", title)))
        for secret in ["51,28", "Raw profile", "rubbish", "3\0\0\0\u{1}\0\0\0"] {
            #expect(cleaned.range(of: Data(secret.utf8)) == nil)
        }
        // With the checksums that a fixture would write of what is left.
        let blanked = xmp.replacing(
            #"exif:GPSLatitude="51,28.6N""#, with: String(repeating: " ", count: 27))
        let start = try #require(cleaned.range(of: Data("eXIf".utf8)))
        let exif = Data(cleaned[start.upperBound...].prefix(block().count))
        #expect(cleaned == file(("eXIf", exif), ("iTXt", Data(blanked.utf8)), ("tEXt", title)))
    }

    @Test func directoriesThatPointAnywhereAreHarmless() {
        var generator = SeededGenerator(state: 11)
        for _ in 0..<3000 {
            var file = Array("Exif\0\0".utf8) + block(littleEndian: Bool.random(using: &generator))
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let place = Int.random(in: 10..<file.count, using: &generator)
                file[place] = UInt8.random(in: 0...255, using: &generator)
            }
            let cut = Int.random(in: 1...file.count, using: &generator)
            let cleaned = PositionMetadata.removed(from: Data(file.prefix(cut)))
            #expect(cleaned.count == cut)
        }
    }

    @Test func aPointerToWhatOtherEntriesSayClearsNothingOfIt() {
        var file = block()
        // The position is said to be where the artist is.
        file[30] = 50
        let cleaned = PositionMetadata.removed(from: Data(file))
        #expect(cleaned.range(of: Data("secret".utf8)) != nil)
        #expect(cleaned.range(of: Data([0x25, 0x88])) == nil)
    }
}
