import HalcyonServerURLs
import Testing

/// The code in the documentation of types, each piece between two markers that name its file.
struct PlanSnippets {
    @Test func aParserReadsAPath() throws {
        // guide: PlanParser/example
        let parser = try PlanParser(PlanParser.Configuration())
        let path = "/rs:fill:300:200/plain/https://example.com/a.jpg@webp"
        let plan = try parser.parse(path: path)
        // end
        #expect(plan.source == "https://example.com/a.jpg" && plan.format == .webp)
        #expect(plan.options.resizing == .fill && plan.options.width == 300)
    }

    @Test func aURLIsWrittenAndSigned() {
        let signer = PathSigner(pairs: [.init(key: [1, 2, 3], salt: [4, 5, 6])])
        // guide: ImageURL/example
        let url = ImageURL(source: "https://example.com/a.jpg")
            .resize(.fill, 300, 200).format(.webp)
        let signed = signer.signed(url.path)
        // end
        #expect(
            signed?.hasSuffix("/rs:fill:300:200/aHR0cHM6Ly9leGFtcGxlLmNvbS9hLmpwZw.webp") == true)
    }
}
