import Foundation
import Halcyon
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

/// What `halcyon info --json` prints of files.
struct InfoRowTests {
    /// 12 by 8 pixels, stored upright and turned by its EXIF data, in the colours of Adobe RGB: written by Pillow 13
    /// at quality 90.
    private static var photo: Data { get throws { try SampleFile.data("camera.jpg") } }

    private static let animation = GIFFixture.data(
        [Pixel.red, .blue].map { GIFFixture.Frame(.solid($0, width: 6, height: 4), delay: 25) },
        loopCount: 3)

    /// In the colours of BT.2100, brighter than paper (PQ).
    private static let bright = PNGFixture.data(
        .gradient(width: 9, height: 5), as: .rgb16,
        chunks: [PNGFixture.Chunk(type: "cICP", data: Data([9, 16, 0, 1]))])

    private static func row(_ data: Data) -> InfoRow {
        InfoRow(
            source: ImageArgument("data:,"),
            result: Result { try ImageInformation(of: data) }.mapError { LoadFailure($0) })
    }

    private static func json(_ row: InfoRow) throws -> NSDictionary {
        let data = Data(row.json.jsonText.utf8)
        return try #require(JSONSerialization.jsonObject(with: data) as? NSDictionary)
    }

    /// The names of what is in an object, those of objects within it behind a dot.
    private static func fields(_ object: NSDictionary) -> Set<String> {
        var fields: Set<String> = []
        for case (let name as String, let value) in object {
            guard let inner = value as? NSDictionary else {
                fields.insert(name)
                continue
            }
            for field in Self.fields(inner) { fields.insert("\(name).\(field)") }
        }
        return fields
    }

    @Test func aPhotoTellsWhatItsCameraHasNoted() throws {
        let expected: NSDictionary = [
            "source": "data:,", "format": "JPEG", "width": 8, "height": 12, "orientation": 6,
            "frames": 1, "bits": 8, "alpha": false, "colors": ["icc": "Compatible with Adobe RGB"],
            "camera": [
                "maker": "Halcyon", "model": "Kingfisher 1", "lens": "KF 50mm f/1.8",
                "software": "Darkroom 2.0", "taken": "2024-05-01T18:30:00+02:00",
                "exposureTime": 0.008, "aperture": 2.8, "sensitivity": 200, "focalLength": 50,
            ],
            "quality": 90, "gainMap": false, "complete": true,
        ]
        #expect(try Self.json(Self.row(Self.photo)) == expected)
    }

    @Test func anAnimationTellsItsTimes() throws {
        let found = try Self.json(Self.row(Self.animation))
        #expect(found["format"] as? String == "GIF")
        #expect(found["width"] as? Int == 6 && found["height"] as? Int == 4)
        // It is repeated three times.
        #expect(found["frames"] as? Int == 2 && found["loops"] as? Int == 4)
        #expect(found["durations"] as? [Double] == [0.25, 0.25])
        #expect(found["camera"] == nil && found["colors"] == nil && found["quality"] == nil)
    }

    @Test func aBrightPictureTellsItsColours() throws {
        let found = try Self.json(Self.row(Self.bright))
        #expect(found["format"] as? String == "PNG" && found["bits"] as? Int == 16)
        #expect(found["colors"] as? NSDictionary == ["primaries": 9, "transfer": 16])
        #expect(found["durations"] == nil && found["loops"] == nil)
    }

    @Test func aFileThatIsCutShortSaysSo() throws {
        let found = try Self.json(Self.row(Self.animation.dropLast(5)))
        #expect(found["complete"] as? Bool == false && found["frames"] as? Int == 1)
    }

    @Test func whatIsNoPictureTellsWhy() throws {
        let found = try Self.json(Self.row(Data("text".utf8)))
        #expect(Self.fields(found) == ["source", "error.code", "error.message"])
    }

    /// The help names each field once, and no other.
    @Test func theHelpNamesWhatIsPrinted() throws {
        let names = InfoRow.fields.split(separator: "\n")
            // What says more of a field is further to the right.
            .filter { $0.prefix { $0 == " " }.count == 2 }
            .flatMap { line in
                String(line.dropFirst(2)).components(separatedBy: "  ")[0]
                    .components(separatedBy: ", ")
            }
        let files = try [Self.photo, Self.animation, Self.bright, Data("text".utf8)]
        let printed = try files.map { try Self.fields(Self.json(Self.row($0))) }
            .reduce(into: Set()) { $0.formUnion($1) }
        #expect(names.count == Set(names).count)
        #expect(Set(names) == printed)
    }
}

struct JSONObjectTests {
    @Test func keepsTheOrderOfItsMembers() {
        var object = JSONObject(["z": 1, "a": nil])
        object.add(present: ["x": nil, "m": [true], "d": 1.256.inHundredths])
        #expect(object.jsonText == #"{"z":1,"a":null,"m":[true],"d":1.26}"#)
    }

    @Test func everyTextSurvives() throws {
        let text =
            String(String.UnicodeScalarView((0...0x2030).compactMap(Unicode.Scalar.init)))
            + "\"\\/🐦"
        let line = JSONObject(["text": text]).jsonText
        #expect(!line.contains { $0.isNewline })
        let decoded = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
        #expect(decoded["text"] == text)
    }

    @Test func numbersThatJSONDoesNotKnowAreNull() {
        let object = JSONObject(["a": Double.nan.inHundredths, "b": Double.infinity])
        #expect(object.jsonText == #"{"a":null,"b":null}"#)
    }
}
