import Testing

@testable import HalcyonServerURLs

/// Names for those who save a picture.
struct ContentDispositionTests {
    private func field(_ source: String, _ change: (inout ProcessingOptions) -> Void = { _ in })
        -> String
    {
        var plan = ImagePlan(source: source)
        change(&plan.options)
        return ContentDisposition(plan: plan, format: .webp).field
    }

    @Test(arguments: [
        ("local:///a/b/photo.png", "photo"), ("https://example.com/a/x.y.jpg?n=z.png", "x.y"),
        ("https://example.com", "image"), ("https://example.com/", "image"),
        ("https://example.com/a/", "image"), ("https://example.com/a%20b.jpg", "a b"),
        ("https://example.com/.hidden", ".hidden"), ("plain", "plain"),
        ("local:/a/b.jpg", "b"), ("https://example.com/50%.jpg", "50%"),
    ])
    func aNameIsTheLastPartOfTheSource(source: String, name: String) {
        #expect(field(source) == "inline; filename=\"\(name).webp\"")
    }

    @Test func theURLSaysNameAndWhetherToSave() {
        #expect(
            field("local:///a.png") {
                $0.filename = "holiday"
                $0.asAttachment = true
            } == "attachment; filename=\"holiday.webp\"")
    }

    @Test(arguments: [
        ("é", "inline; filename=\"_.webp\"; filename*=UTF-8''%C3%A9.webp"),
        ("a\"b", "inline; filename=\"a_b.webp\"; filename*=UTF-8''a%22b.webp"),
        ("a\\b", "inline; filename=\"a_b.webp\"; filename*=UTF-8''a%5Cb.webp"),
        ("a\r\nX: y", "inline; filename=\"a__X: y.webp\""), ("", "inline; filename=\"image.webp\""),
        ("a\u{85}b", "inline; filename=\"a_b.webp\""),
    ])
    func whatAHeaderCannotSayIsWrittenTwice(name: String, expected: String) {
        #expect(field("x") { $0.filename = name } == expected)
    }

    @Test func longNamesAreCutAtTheirEnd() {
        for name in [
            String(repeating: "a", count: 9000), String(repeating: "é", count: 9000),
            "🦜" + String(repeating: "\u{301}", count: 5000), String(repeating: "\"", count: 500),
        ] {
            let field = field("x") { $0.filename = name }
            #expect(field.utf8.count <= 150 && field.utf8.count > 120)
            #expect(field.contains(".webp") && !field.contains("\n"))
        }
    }
}
