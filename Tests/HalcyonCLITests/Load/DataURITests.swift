import Foundation
import Testing

@testable import HalcyonCLI

struct DataURITests {
    @Test(arguments: [
        ("data:,hello", "", "hello"), ("DATA:text/plain,a%20b", "text/plain", "a b"),
        ("data:text/plain;charset=utf-8,%E7%BF%A0", "text/plain;charset=utf-8", "翠"),
        ("data:;base64,aGVsbG8=", "", "hello"), ("data:a/b;BASE64,aGVsbG8", "a/b", "hello"),
        ("data:a/b;base64,aGVs%0AbG8%3D", "a/b", "hello"), ("data:,", "", ""),
        ("data:,a,b;base64", "", "a,b;base64"),
    ])
    func decodes(text: String, mediaType: String, content: String) throws {
        let uri = try DataURI(text)
        #expect(uri.mediaType == mediaType)
        #expect(uri.data == Data(content.utf8))
    }

    @Test func readsTheAlphabetForURLs() throws {
        #expect(try DataURI("data:;base64,-_8").data == Data([0xFB, 0xFF]))
    }

    @Test(arguments: [
        ("data:image/png", DataURI.ParsingError.noComma), ("data:,%4", .badPercentEncoding),
        ("data:,%zz", .badPercentEncoding), ("data:;base64,a", .badBase64),
        ("data:;base64,a*b=", .badBase64),
    ])
    func refusesWhatIsMalformed(text: String, error: DataURI.ParsingError) {
        #expect(throws: error) { try DataURI(text) }
    }
}
