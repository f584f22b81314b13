import HalcyonServerURLs
import Testing

/// URLs that are written and read again.
struct ImageURLTests {
    @Test func optionsMayBeGivenAsTheyStandInAURL() {
        let url = ImageURL(source: "local:/a b.jpg", form: .plain).options("w:10/q:70/")
        #expect(url.path == "/w:10/q:70/plain/local%3A%2Fa%20b.jpg")
        #expect(url.options("").format(.webp).path == url.path + "@webp")
    }

    @Test func aURLIsReadAsItWasWritten() throws {
        let url = ImageURL(source: "https://example.com/a b.jpg?x=@1:2")
            .resize(.fill, 300, 200, enlarge: true).dpr(1.5).gravity(.focus(x: 0.25, y: 1))
            .crop(0.5, 100).rotate(90).blur(2.5)
            .background(RGBColor(red: 1, green: 2, blue: 255)).quality(70).format(.webp)
            .expires(at: 4_102_444_800).filename("ein Bild / é").option(.padding, "1", "2")
        for form in [ImageURL.SourceForm.encoded, .plain] {
            var url = url
            url.sourceForm = form
            let plan = try PlanParser().parse(path: url.path)
            var expected = ImagePlan(source: "https://example.com/a b.jpg?x=@1:2")
            let change: OptionTests.Setting = {
                ($0.resizing, $0.width, $0.height, $0.enlarge) = (.fill, 300, 200, true)
                ($0.dpr, $0.rotation, $0.blur, $0.quality) = (1.5, 90, 2.5, 70)
                $0.gravity = .focus(x: 0.25, y: 1)
                $0.crop = .init(width: 0.5, height: 100)
                $0.background = RGBColor(red: 1, green: 2, blue: 255)
                ($0.format, $0.expires, $0.filename) = (.webp, 4_102_444_800, "ein Bild / é")
                $0.padding = .init(top: 1, right: 2, bottom: 1, left: 2)
            }
            change(&expected.options)
            #expect(plan == expected)
        }
    }

    @Test func aURLHasTheShortNamesOfItsOptions() {
        let url = ImageURL(source: "local:///a.jpg").resize(.fit, 300, 0).presets("a", "b")
        #expect(url.path == "/rs:fit:300:0/pr:a:b/bG9jYWw6Ly8vYS5qcGc")
        var plain = url.format(.jpeg).gravity(.anchor(.south, x: 1, y: -0.5)).gravity(.smart)
        plain.sourceForm = .plain
        #expect(plain.path == "/rs:fit:300:0/pr:a:b/g:so:1:-0.5/g:sm/plain/local:///a.jpg@jpg")
    }

    @Test(arguments: [
        "http:/a", "local:/a.jpg", "plain/x", "a:b", "https://example.com//a@b?c#d%20é", "é", "-",
        "enc/x",
    ])
    func aSourceSurvivesTheWayInBothForms(source: String) throws {
        for form in [ImageURL.SourceForm.encoded, .plain] {
            let signed = try SignedPath(target: "/_" + ImageURL(source: source, form: form).path)
            #expect(try PlanParser().parse(path: signed.path).source == source)
        }
    }
}
