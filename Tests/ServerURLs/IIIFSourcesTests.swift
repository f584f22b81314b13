import Testing

@testable import HalcyonServerURLs

/// Where the picture of an identifier may be.
struct IIIFSourcesTests {
    private func candidates(
        _ encoded: String, _ rules: IIIFSources.Rule...
    ) throws -> [IIIFSources.Candidate] {
        IIIFSources(rules: rules).candidates(for: try IIIFIdentifier(encoded: encoded))
    }

    private func file(_ segments: String, in directory: String = "/srv") throws
        -> IIIFSources.Candidate
    {
        .file(try LocalPath(segments: segments), directory: directory)
    }

    @Test func aFolderHasAPictureWithOrWithoutItsExtension() throws {
        let folder = IIIFSources.Rule.directory("/srv", extensions: ["jpg", "PNG"])
        #expect(try candidates("a", folder) == [file("a.jpg"), file("a.png")])
        #expect(
            try candidates("b%2FA.JPG", folder)
                == [file("b/A.JPG"), file("b/A.JPG.jpg"), file("b/A.JPG.png")])
        #expect(try candidates("a", .directory("/srv", extensions: [])) == [file("a")])
        #expect(try candidates("a%5Cb.jpg", folder).first == file("a\\b.jpg"))
    }

    @Test(arguments: ["a%2F..%2Fb", "..%2Fa", ".hidden", "a%2F%2Fb", "%2Fa", "..%5Ca"])
    func aPathThatCannotBeHasNoPicture(encoded: String) throws {
        #expect(try candidates(encoded, .directory("/srv", extensions: ["jpg"])).isEmpty)
    }

    @Test func aTemplateDescribesTheWholeIdentifier() throws {
        let template = IIIFSources.Rule.template(
            try .init(match: #"book-(\d+)-(\d+)"#, url: "https://img.example.org/$1/$2.jpg?x=$$$1"))
        #expect(
            try candidates("book-12-3", template)
                == [.source("https://img.example.org/12/3.jpg?x=$12")])
        #expect(try candidates("xbook-12-3", template).isEmpty)
        #expect(try candidates("book-12-3%20", template).isEmpty)
        let anchored = IIIFSources.Rule.template(try .init(match: "^a|b$", url: "local:///$0"))
        #expect(try candidates("a", anchored) == [.source("local:///a")])
        #expect(try candidates("ab", anchored).isEmpty)
    }

    @Test func whatAGroupHasCannotLeaveThePath() throws {
        let template = IIIFSources.Rule.template(
            try .init(match: "(.*)", url: "https://img.example.org/$1"))
        #expect(
            try candidates("a%3Fb%23c%40d%2Fe%2520", template)
                == [.source("https://img.example.org/a%3Fb%23c%40d/e%2520")])
    }

    @Test(arguments: [("(", "x"), ("a", "$1"), ("(a)", "$2"), ("a", "x$"), ("a", "$x")])
    func aTemplateThatCannotBeFilledIsRefused(match: String, url: String) {
        #expect(throws: PlanError.self) { try IIIFSources.Template(match: match, url: url) }
    }

    @Test func rulesAreAskedInTheirOrder() throws {
        let table = IIIFSources.Rule.table(["a": "local:///1.jpg"])
        let folder = IIIFSources.Rule.directory("/srv", extensions: ["jpg"])
        #expect(try candidates("a", table, folder) == [.source("local:///1.jpg"), file("a.jpg")])
        #expect(try candidates("b", table).isEmpty)
    }
}
