import HalcyonTestKit
import Testing

@testable import HalcyonServerURLs

/// Requests by the IIIF Image API.
struct IIIFRequestTests {
    static let china = Dimensions(width: 640, height: 427)

    private func parameters(_ text: String) throws(PlanError) -> IIIFParameters {
        guard case .image(_, let parameters) = try IIIFRequest(path: "id/" + text) else {
            throw PlanError(.notFound, "no image")
        }
        return parameters
    }

    private func geometry(
        _ text: String, picture: Dimensions = china, _ change: (inout IIIFLimits) -> Void = { _ in }
    ) throws(PlanError) -> IIIFGeometry {
        var limits = IIIFLimits()
        change(&limits)
        return try IIIFGeometry(try parameters(text), picture: picture, limits: limits)
    }

    @Test(arguments: [
        ("full/max/0/default.jpg", 640, 427), ("square/max/0/default.jpg", 427, 427),
        ("0,0,100,50/max/0/default.jpg", 100, 50), ("600,400,100,100/max/0/default.jpg", 40, 27),
        ("pct:0,0,50,50/max/0/default.jpg", 320, 214), ("full/320,/0/default.jpg", 320, 214),
        ("full/,100/0/default.jpg", 150, 100), ("full/pct:50/0/default.jpg", 320, 214),
        ("full/200,200/0/default.jpg", 200, 200), ("full/!200,200/0/default.jpg", 200, 133),
        ("full/^1280,/0/default.jpg", 1280, 854), ("full/^!1280,1280/0/default.jpg", 1280, 854),
        ("full/^pct:200/0/default.jpg", 1280, 854), ("full/max/90/default.jpg", 427, 640),
        ("full/max/!180/default.jpg", 640, 427), ("full/^max/0/default.jpg", 640, 427),
        ("full/max/360/default.jpg", 640, 427), ("full/max/45/default.jpg", 755, 755),
        ("full/,1/0/default.jpg", 1, 1), ("full/!1,400/0/default.jpg", 1, 1),
        ("full/!700,200/0/default.jpg", 300, 200), ("full/pct:.5/0/default.jpg", 3, 2),
        ("pct:99.99,99.99,50,50/max/0/default.jpg", 1, 1), ("full/^1,2000/0/default.jpg", 1, 2000),
        ("full/%5E1280,/0/default.jpg", 1280, 854), ("639,426,999999999,1/max/0/default.jpg", 1, 1),
    ])
    func aPictureHasItsSize(text: String, width: Int, height: Int) throws {
        #expect(try geometry(text).result == Dimensions(width: width, height: height))
    }

    private static let wrong: [(part: String, texts: [String])] = [
        (
            "region",
            [
                "640,0,10,10", "0,427,10,10", "0,0,0,10", "0,0,10,0", "pct:100,0,10,10",
                "pct:0,0,0,10", "-1,0,10,10", "0,0,10", "0,0,10,10,10", "+1,0,10,10", "1.5,0,10,10",
                "0,0,10,1234567890", "pct:0,0,1e1,10", "pct:0,0,.,10", "pct:0,0,1.2.3,10", "Full",
                "", "%zz",
            ].map { "\($0)/max/0/default.jpg" }
        ),
        (
            "size",
            [
                "641,", ",428", "pct:200", "pct:0", "0,", ",0", "0,0", "^0,", "full", "max^",
                "^^max", "!^1,1", "!1,", ",", "1,1,1", "", "641,427", "!2000,3000", "1e3,",
            ].map { "full/\($0)/0/default.jpg" }
        ),
        (
            "rotation",
            ["361", "-90", "360.1", "90!", "a", "", "!", "1e1"].map { "full/max/\($0)/default.jpg" }
        ),
        (
            "quality",
            ["sepia.jpg", "default", "default.jpg.png", ".jpg"].map { "full/max/0/\($0)" }
        ),
        ("format", ["bmp", "jp2", "pdf", "", "JPG"].map { "full/max/0/default.\($0)" }),
    ]

    @Test(arguments: wrong.flatMap { row in row.texts.map { ($0, "iiif_\(row.part)") } })
    func whatTheStandardDoesNotAllowIsABadRequest(text: String, code: String) {
        let error = #expect(throws: PlanError.self) { try geometry(text) }
        #expect(error?.code == code && error?.status == 400, "\(String(describing: error))")
    }

    @Test func aBoxLargerThanTheRegionIsTheRegionWhereThatIsWished() throws {
        let relaxed = try geometry("full/!2000,3000/0/default.jpg") {
            $0.isStrictlyConfined = false
        }
        #expect(relaxed.size == Self.china)
    }

    @Test func declaredLimitsHold() throws {
        let wide: (inout IIIFLimits) -> Void = { $0.maxWidth = 320 }
        #expect(
            try geometry("full/max/0/default.jpg", wide).size == Dimensions(width: 320, height: 214)
        )
        #expect(try geometry("full/320,/0/default.jpg", wide).size.width == 320)
        #expect(throws: PlanError.self) { try geometry("full/321,/0/default.jpg", wide) }
        let area: (inout IIIFLimits) -> Void = { $0.maxArea = 10_000 }
        let size = try geometry("full/max/0/default.jpg", area).size
        #expect(size.width * size.height <= 10_000 && size.width >= 121)
        #expect(throws: PlanError.self) { try geometry("full/200,/0/default.jpg", area) }
        let large: (inout IIIFLimits) -> Void = { $0.maxWidth = 1280 }
        #expect(
            try geometry("full/^max/0/default.jpg", large).size
                == Dimensions(width: 1280, height: 854))
        #expect(try geometry("full/max/0/default.jpg", large).size == Self.china)
        #expect(throws: PlanError.self) { try geometry("full/^,1281/0/default.jpg", large) }
    }

    @Test func theServersOwnLimitHoldsAndShowsWhenItMatters() throws {
        let small: (inout IIIFLimits) -> Void = { $0.resultDimension = 320 }
        #expect(try geometry("full/max/0/default.jpg", small).size.width == 320)
        #expect(throws: PlanError.self) { try geometry("full/^1280,/0/default.jpg", small) }
        var limits = IIIFLimits()
        limits.resultDimension = 320
        #expect(limits.declared(for: Self.china).width == 320)
        #expect(limits.declared(for: Dimensions(width: 320, height: 1)).width == nil)
    }

    @Test(arguments: [
        ("full/max/0/default.jpg", "full/max/0/default.jpg"),
        ("0,0,640,427/640,/0/color.jpg", "full/max/0/default.jpg"),
        ("0,0,9999,9999/640,427/360/default.jpg", "full/max/0/default.jpg"),
        ("pct:0,0,50,50/pct:50/90.0/gray.png", "0,0,320,214/160,107/90/gray.png"),
        ("square/,100/!0.50/bitonal.webp", "106,0,427,427/100,100/!0.5/bitonal.webp"),
        ("full/^1280,/00/default.tif", "full/^1280,854/0/default.tif"),
        ("full/^320,/.5/default.gif", "full/320,214/0.5/default.gif"),
        ("full/^max/5./default.avif", "full/max/5/default.avif"),
        ("full/!200,200/0.00000001/default.jxl", "full/200,133/0.00000001/default.jxl"),
    ])
    func everyPictureHasOneCanonicalForm(text: String, canonical: String) throws {
        let form = try geometry(text).canonicalText
        #expect(form == canonical)
        #expect(try geometry(form).canonicalText == form)
    }

    @Test func enlargingToTheLimitIsCanonicalMax() throws {
        let form = try geometry("full/^1280,/0/default.jpg") { $0.maxWidth = 1280 }.canonicalText
        #expect(form == "full/^max/0/default.jpg")
    }

    @Test func colourOfAGrayPictureIsNotItsDefault() throws {
        let form = try IIIFGeometry(
            try parameters("full/max/0/color.png"), picture: Self.china, limits: IIIFLimits(),
            isGray: true
        ).canonicalText
        #expect(form == "full/max/0/color.png")
    }

    // MARK: Paths

    @Test(arguments: [
        ("china", "china"), ("a%2Fb", "a/b"), ("a%2Db", "a-b"), ("%252F", "%2F"),
        ("a:b@c", "a:b@c"), ("%C3%A9", "é"), ("a%E9%5C", "a\u{10FFE9}\\"),
        ("67352ccc%2Dd1b0", "67352ccc-d1b0"),
    ])
    func anIdentifierIsDecodedOnce(encoded: String, text: String) throws {
        let identifier = try IIIFIdentifier(encoded: encoded)
        #expect(identifier.text == text)
        #expect(try IIIFIdentifier(encoded: identifier.encoded) == identifier)
        #expect(try IIIFRequest(path: encoded) == .base(identifier))
        #expect(try IIIFRequest(path: encoded + "/") == .base(identifier))
        #expect(try IIIFRequest(path: "/" + encoded + "/info.json") == .info(identifier))
    }

    @Test(arguments: [
        "", "/", "..", ".", "%2e%2e", "[frob]", "a%00b", "a%0Ab", "%zz", "a<b", "a^b",
        "a\\b", "a/b", "a/b/info.json", "a/full/max/0", "a/full/max/0/default.jpg/x", "a/info.xml",
        "a//info.json",
    ])
    func whatIsNoIdentifierIsNotFound(path: String) {
        let error = #expect(throws: PlanError.self) { try IIIFRequest(path: path) }
        #expect(error?.code == "not_found" && error?.status == 404)
    }

    @Test func anIdentifierHasItsLongestLength() throws {
        let long = String(repeating: "a", count: 1024)
        #expect(try IIIFIdentifier(encoded: long).text == long)
        #expect(throws: PlanError.self) { try IIIFIdentifier(encoded: long + "a") }
    }

    @Test(arguments: 0..<4) func anyTextIsAPictureOrAnError(seed: UInt64) throws {
        var numbers = SeededGenerator(state: seed)
        let pieces = [
            "full", "square", "max", "pct:", "^", "!", ",", ".", "0", "1", "50", "999999999", "1e9",
            "-", "default", "color", "jpg", "png", "%", "%20", "é", "/",
        ]
        var count = 0
        for _ in 0..<4000 {
            var parts = ["full", "max", "0", "default.jpg"]
            let changed = Int.random(in: 0..<4, using: &numbers)
            parts[changed] = (0..<Int.random(in: 1...4, using: &numbers)).map { _ in
                pieces.randomElement(using: &numbers)!
            }.joined()
            do throws(PlanError) {
                let geometry = try geometry(parts.joined(separator: "/"))
                count += 1
                let again = try self.geometry(geometry.canonicalText)
                #expect(again.canonicalText == geometry.canonicalText)
            } catch {
                #expect(error.status == 400 || parts[changed].contains("/"))
            }
        }
        #expect(count > 50)
    }
}
