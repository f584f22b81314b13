import Foundation
import HalcyonWork
import Testing

struct DataURITests {
    @Test(arguments: [
        ("data:,hello", "", "hello"), ("DATA:text/plain,a%20b", "text/plain", "a b"),
        ("data:text/plain;charset=utf-8,%E7%BF%A0", "text/plain;charset=utf-8", "翠"),
        ("data:;base64,aGVsbG8=", "", "hello"), ("data:a/b;BASE64,aGVsbG8", "a/b", "hello"),
        ("data:a/b;base64,aGVs%0AbG8%3D", "a/b", "hello"), ("data:,", "", ""),
        ("data:,a,b;base64", "", "a,b;base64"), ("data:a/b; base64,aGVsbG8=", "a/b", "hello"),
        // A fragment is no data (URL Standard).
        ("data:;base64,aGVsbG8=#x", "", "hello"), ("data:,hello#me,#you", "", "hello"),
        ("data:,a%23b#", "", "a#b"),
    ])
    func decodes(text: String, mediaType: String, content: String) throws {
        for reading in [DataURI.Reading.strict, .lenient] {
            let uri = try DataURI(text, reading)
            #expect(uri.mediaType == mediaType && uri.data == Data(content.utf8))
        }
    }

    @Test(arguments: [
        ("data:,%", "%"), ("data:,100%", "100%"), ("data:,%4", "%4"), ("data:,%zz%41", "%zzA"),
        ("data:,%%41%", "%A%"), ("data:,%4%41", "%4A"), ("data:,50% of %4g", "50% of %4g"),
        ("data:image/svg+xml,<rect width='100%'/>", "<rect width='100%'/>"),
    ])
    func aBarePercentSignStandsForItself(text: String, content: String) throws {
        for reading in [DataURI.Reading.strict, .lenient] {
            #expect(try DataURI(text, reading).data == Data(content.utf8))
        }
    }

    @Test func readsTheAlphabetForURLs() throws {
        #expect(try DataURI("data:;base64,-_8").data == Data([0xFB, 0xFF]))
    }

    @Test(arguments: [
        ("data:image/png", DataURI.ParsingError.noComma), ("data:;base64,a", .badBase64),
        ("data:;base64,a*b=", .badBase64), ("data:;base64,aGVsbG8%", .badBase64),
        (" data:,a", .noComma), ("da\tta:,a", .noComma), ("data:a/b#c,d", .noComma),
    ])
    func refusesWhatIsMalformed(text: String, error: DataURI.ParsingError) {
        #expect(throws: error) { try DataURI(text) }
    }

    /// What browsers make of it.
    @Test(arguments: [
        (" data:,hello", "", "hello"), ("da\tta:,hel\nlo", "", "hello"),
        ("data:;base64,aGVs*bG8", "", "hello"),
        ("data:;base64,aGVsbG8hI", "", "hello!"), ("data:A/B; c=d;base64,a*Gk", "a/b", "hi"),
        ("\u{1} DATA: Image/PNG ,a", "image/png", "a"),
    ])
    func readsWhatIsMalformedWhereItIsToldTo(text: String, kind: String, content: String) throws {
        let uri = try DataURI(text, .lenient)
        #expect(uri.kind == kind && uri.data == Data(content.utf8))
        #expect(DataURI.isScheme(of: text.utf8, .lenient))
        #expect((try? DataURI(text))?.data != uri.data)
    }

    @Test func withoutACommaThereIsNoDataForAnybody() {
        #expect(throws: DataURI.ParsingError.noComma) { try DataURI("data:image/png", .lenient) }
        #expect(throws: DataURI.ParsingError.noComma) { try DataURI("file:,a", .lenient) }
    }
}

struct DurationSecondsTests {
    private static let durations: [(Duration, Double)] = [
        (.zero, 0), (.seconds(1), 1), (.seconds(3601), 3601), (.seconds(2_592_001), 2_592_001),
        (.milliseconds(100), 0.1), (.milliseconds(1), 0.001), (.milliseconds(1500), 1.5),
        (.nanoseconds(1), 1e-9), (.seconds(-3601), -3601), (.milliseconds(-1500), -1.5),
        (.milliseconds(-1), -0.001),
    ]

    @Test(arguments: durations)
    func theSecondsOfADurationAreExact(duration: Duration, seconds: Double) {
        #expect(duration.inSeconds == seconds)
    }

    private static let counted: [(Duration, Int64)] = [
        (.zero, 0), (.nanoseconds(1), 1), (.seconds(-3601), -3_601_000_000_000),
        (.seconds(7_776_000) + .nanoseconds(1), 7_776_000_000_000_001),
        (.seconds(10_000_000_000), .max),
    ]

    @Test(arguments: counted)
    func theNanosecondsOfADurationAreExact(duration: Duration, nanoseconds: Int64) {
        #expect(duration.nanoseconds == nanoseconds)
    }
}
