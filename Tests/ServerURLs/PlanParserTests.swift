import HalcyonServerURLs
import Testing

/// Sources and the order of options. What each option means is told elsewhere.
struct PlanParserTests {
    private func parse(_ path: String) throws(PlanError) -> ImagePlan {
        let signed = try SignedPath(target: "/sig" + path)
        return try PlanParser().parse(path: signed.path)
    }

    @Test(
        arguments: [
            ("/rs:fill:300:200/plain/http://example.com/a.jpg", "http://example.com/a.jpg", nil),
            ("/plain/http://example.com/a.jpg@png", "http://example.com/a.jpg", .png),
            ("/plain/http://example.com/a.jpg@", "http://example.com/a.jpg", nil),
            ("/plain/http:/example.com/a.jpg", "http://example.com/a.jpg", nil),
            ("/plain/local:/a.jpg", "local:///a.jpg", nil),
            (
                "/rs%3Afill%3A300%3A200/plain/https://example.com/a.jpg",
                "https://example.com/a.jpg",
                nil
            ),
            (
                "/plain/https%3A%2F%2Fexample.com%2Fa%20b.jpg%3Fx%3D1%26y%3D%2540@png",
                "https://example.com/a b.jpg?x=1&y=%40", .png
            ),
            (
                "/w:10/aHR0cHM6Ly9leGFt/cGxlLmNvbS9pbWFnZXMv/Y3VyaW9zaXR5LmpwZw.webp",
                "https://example.com/images/curiosity.jpg", .webp
            ),
            (
                "/w:10/aHR0cHM6Ly9leGFtcGxlLmNvbS9pbWFnZXMvY3VyaW9zaXR5LmpwZw==",
                "https://example.com/images/curiosity.jpg", nil
            ),
            ("/plain/http://example.com//a+b%2Bc.jpg", "http://example.com//a+b+c.jpg", nil),
            ("/f:png/plain/http://example.com/a.jpg@jpg", "http://example.com/a.jpg", .jpeg),
            ("/plain/http://example.com/%C3%A9.jpg", "http://example.com/é.jpg", nil),
        ] as [(String, String, OutputFormat?)])
    func aPathNamesItsSource(path: String, source: String, format: OutputFormat?) throws {
        let plan = try parse(path)
        #expect(plan.source == source && plan.format == format)
    }

    /// Names of files are bytes.
    @Test(arguments: ["/plain/local:///caf%E9%5C.jpg", "/bG9jYWw6Ly8vY2Fm6VwuanBn"])
    func aLocalSourceNeedsNotBeText(path: String) throws {
        let plan = try parse(path)
        #expect(plan.source == "local:///caf\u{10FFE9}\\.jpg")
        #expect(plan.canonicalText == "/plain/local%3A///caf%E9%5C.jpg")
        #expect(try parse(plan.canonicalText) == plan)
        for form in [ImageURL.SourceForm.plain, .encoded] {
            #expect(try parse(ImageURL(source: plan.source, form: form).path) == plan)
        }
    }

    private static let wrong = [
        "invalid_path": [
            "/plain/http://example.com/a.jpg@png@webp", "/w:10/plain/%zz", "/w:10/plain/%a",
            "/w:10/plain/%FF", "/plain/http://example.com/%E9", "/_w",
            "/w:10/plain/a%00b", "/w:10/plain/a%0D%0Ab", "/w:10/h:10",
            "/w:10/plain", "/w:10/plain/", "/w:10/", "/w:10/aGk.png.jpg", "/w:10/a+b/", "/w:10/_w",
            "/fit/300/200/no/1/plain/http://example.com/a.jpg",
            "/fill-down/300/200/plain/http://example.com/a.jpg",
        ],
        "invalid_option": ["/plain/http://example.com/a.jpg@exe"],
        "unsupported_option": [
            "/plain/http://example.com/a.jpg@best", "/enc/aHR0cDovL2V4YW1wbGUuY29t",
            "/w:10/-/w:20/plain/http://example.com/a.jpg",
        ],
    ]

    @Test(arguments: wrong.flatMap { code, paths in paths.map { ($0, code) } })
    func aPathThatIsNoneIsRefused(path: String, code: String) {
        let error = #expect(throws: PlanError.self) { try parse(path) }
        #expect(error?.code == code && error?.status == 404, "\(String(describing: error))")
    }

    @Test func aLaterOptionOfTheSameNameWins() throws {
        let plan = try parse("/w:10/h:5/w:20/g:no:1:2/g:so/plain/local:///a.jpg")
        #expect(plan.options.width == 20 && plan.options.height == 5)
        #expect(plan.options.gravity == .anchor(.south))
    }

    @Test func aMetaOptionSetsOnlyWhatItIsGiven() throws {
        let plan = try parse("/el:1/h:7/rs:fill:300/ex:1:so/s::9/plain/local:///a.jpg")
        #expect(plan.options.resizing == .fill && plan.options.enlarge)
        #expect(plan.options.width == 300 && plan.options.height == 9)
        #expect(plan.options.extend == .anchor(.south))
    }

    @Test func skippedFormatsAddUp() throws {
        let plan = try parse("/skp:gif:svg/skp:png/plain/local:///a.jpg")
        #expect(plan.options.skipProcessing == [.gif, .svg, .png])
    }

    @Test func moreOptionsThanAllowedAreRefused() throws {
        func path(_ count: Int) -> String {
            String(repeating: "/w:10", count: count) + "/plain/local:///a.jpg"
        }
        #expect(try parse(path(40)).options.width == 10)
        let error = #expect(throws: PlanError.self) { try parse(path(41)) }
        #expect(error?.code == "invalid_option" && error?.reason.contains("41") == true)
    }

    @Test func theErrorNamesOptionArgumentAndWhatWasExpected() {
        let error = #expect(throws: PlanError.self) {
            try parse("/rs:fill:wide:200/plain/local:///a.jpg")
        }
        #expect(error?.reason == "Option rs: “wide” has to be a whole number of pixels, 0 or more.")
    }

    @Test func aFlagThatIsNoneIsFalseAndNoted() throws {
        let notes = Notes()
        let plan = try PlanParser().parse(path: "/el:yes/plain/local:///a.jpg") { notes.add($0) }
        #expect(!plan.options.enlarge)
        #expect(notes.texts == ["Option el: “yes” counts as false."])
    }

    @Test func rewritingComesBeforeEverythingElse() throws {
        var configuration = PlanParser.Configuration()
        configuration.rewriting = SourceRewriting(
            rules: [
                try .init("^img/(.*)$=pictures/$1"), try .init("^pictures/=assets/"),
            ], baseURL: "https://origin.example/")
        let parser = try PlanParser(configuration)
        func source(_ text: String) throws -> String {
            try parser.parse(path: "/plain/" + text).source
        }
        #expect(try source("img/a.jpg") == "https://origin.example/assets/a.jpg")
        #expect(try source("b.jpg") == "https://origin.example/b.jpg")
        #expect(try source("https://origin.example/c") == "https://origin.example/c")
    }

    @Test(arguments: ["no separator", "=x", "(=x", "[a-=x"])
    func aRewritingThatCannotBeReadIsRefused(rule: String) {
        #expect(throws: PlanError.self) { try SourceRewriting.Rule(rule) }
    }

    @Test func aSourceExpiresAtItsTime() throws {
        let plan = try parse("/exp:1000/plain/local:///a.jpg")
        #expect(!plan.isExpired(at: 1000) && plan.isExpired(at: 1000.5))
        #expect(try !parse("/exp:0/plain/local:///a.jpg").isExpired(at: 1e12))
    }
}

/// Collects what a parser notes.
final class Notes {
    private(set) var texts: [String] = []

    func add(_ text: String) { texts.append(text) }
}
