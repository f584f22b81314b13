import Foundation
import Testing

@testable import HalcyonCLI

struct JSONObjectTests {
    @Test func keepsTheOrderOfItsMembers() {
        var object = JSONObject(["z": .int(1), "a": .null])
        object.add("m", .array([.bool(true), .double(1.256)]))
        #expect(object.text == #"{"z":1,"a":null,"m":[true,1.26]}"#)
    }

    @Test func everyTextSurvives() throws {
        let text =
            String(String.UnicodeScalarView((0...0x2030).compactMap(Unicode.Scalar.init)))
            + "\"\\/🐦"
        let line = JSONObject(["text": .string(text)]).text
        #expect(!line.contains { $0.isNewline })
        let decoded = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
        #expect(decoded["text"] == text)
    }

    @Test func numbersThatJSONDoesNotKnowAreNull() {
        #expect(
            JSONObject(["a": .double(.nan), "b": .double(.infinity)]).text
                == #"{"a":null,"b":null}"#)
    }
}
