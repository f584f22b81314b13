import Testing

@testable import HalcyonServerURLs

/// Which format an answer has by what the client accepts.
struct AcceptNegotiationTests {
    @Test(
        arguments: [
            (nil, nil, nil), ("*/*", nil, nil), ("image/*", nil, nil),
            ("image/avif,image/webp,image/apng,image/*,*/*;q=0.8", .avif, .webp),
            ("image/webp,image/avif;q=0.5", .webp, .webp),
            ("image/avif;q=0,image/webp", .webp, .webp),
            ("image/jpeg,image/webp;q=0.9", nil, nil), ("image/WEBP", .webp, .webp),
            ("image/webp;q=abc,image/avif", .avif, nil), ("text/html", nil, nil),
            ("image/webp;q=1.001,image/avif;q=0.5", .avif, nil), ("image/webp;q=0.1234", nil, nil),
            ("image/webp; Q=0.5 , image/png;q=0.4", .webp, .webp),
            ("image/png;q=0.6,image/webp;q=0.5", nil, nil),
            ("image/webp;a=\"x,y;q=0\";q=0.5", .webp, .webp), ("", nil, nil),
            (",,;q=1,/", nil, nil), ("image/avif;q=0.5,image/webp;q=0.5", .avif, .webp),
        ] as [(String?, OutputFormat?, OutputFormat?)])
    func theBestNamedFormatIsChosen(accept: String?, both: OutputFormat?, webp: OutputFormat?) {
        let lines = accept.map { [$0] } ?? []
        let modern = AcceptNegotiation(formats: [.avif, .webp])
        #expect(modern.format(accept: lines, isAnimated: false) == both)
        #expect(
            AcceptNegotiation(formats: [.webp]).format(accept: lines, isAnimated: false) == webp)
        #expect(AcceptNegotiation(formats: []).format(accept: lines, isAnimated: false) == nil)
    }

    @Test func animationsBecomeWebPOrStayAsTheyAre() {
        let negotiation = AcceptNegotiation(formats: [.avif, .webp, .jxl])
        #expect(negotiation.format(accept: ["image/avif"], isAnimated: true) == nil)
        #expect(negotiation.format(accept: ["image/avif,image/webp"], isAnimated: true) == .webp)
    }

    @Test func whatCannotBeWrittenIsPassedOver() {
        let negotiation = AcceptNegotiation(formats: [.avif, .webp])
        let format = negotiation.format(
            accept: ["image/avif", "image/webp"], isAnimated: false, canWrite: { $0 != .avif })
        #expect(format == .webp)
    }

    @Test func onlyURLsWithoutFormatDependOnAccept() {
        let negotiation = AcceptNegotiation(formats: [.webp])
        var plan = ImagePlan(source: "a")
        #expect(negotiation.concerns(plan))
        #expect(!AcceptNegotiation(formats: []).concerns(plan))
        plan.options.format = .png
        #expect(!negotiation.concerns(plan))
    }

    @Test(
        arguments: [
            ([], true), (["*/*"], true), (["application/ld+json"], true),
            (["application/json"], false), (["application/ld+json;q=0.5, application/json"], false),
            (["application/json;q=0.5, */*"], true), (["text/html"], true),
            (["application/ld+json;profile=\"a,b\""], true),
        ] as [([String], Bool)])
    func aDocumentIsLinkedDataUnlessPlainJSONIsPreferred(accept: [String], isLinked: Bool) {
        let type = DocumentNegotiation.infoType(accept: accept)
        #expect(type.hasPrefix("application/ld+json;") == isLinked)
        #expect(isLinked || type == "application/json")
    }
}
