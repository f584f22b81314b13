import Foundation
import HalcyonHTTP
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import Testing

/// What answers say because the settings say so: to other origins, of hints, of where a picture comes from.
@Suite struct AnswerFieldTests {
    private let china = "/_/w:20/plain/local:///china.jpg"
    private let missing = "/_/w:20/plain/local:///no.jpg"
    private let picture = PNGFixture.solid(.red, width: 40, height: 20)

    private static let exposed = "Content-Length, ETag, Link, Server-Timing, Cache-Status"

    @Test func pagesOfAllOriginsMayReadAnswersWhereTheSettingsSaySo() async throws {
        let live = try await LiveServer.start { $0.http.allowOrigin = ["*"] }
        for (target, status) in [(china, 200), (missing, 404), ("/nothing", 404)] {
            let answer = try await live.ask(target, fields: ["Origin": "https://a.example"])
            #expect(answer.status == status && answer["Access-Control-Allow-Origin"] == "*")
            #expect(answer["Access-Control-Expose-Headers"] == Self.exposed)
            #expect(answer["Timing-Allow-Origin"] == "*")
            answer.expect(["Access-Control-Allow-Credentials": nil, "Vary": nil])
        }
    }

    @Test func pagesOfTheOriginsOfTheSettingsMayReadAnswersAndOthersMayNot() async throws {
        let origins = ["https://a.example", "https://b.example"]
        let live = try await LiveServer.start {
            $0.http.allowOrigin = origins
            $0.negotiation.formats = ["webp"]
        }
        let tag = try #require(try await live.ask(china)["ETag"])
        for origin in origins + ["https://evil.example", "https://a.example.evil.example", "null"] {
            for (target, fields, status) in [
                (china, [:], 200), (china, ["If-None-Match": tag], 304), (missing, [:], 404),
            ] {
                let answer = try await live.ask(
                    target, fields: fields.merging(["Origin": origin]) { $1 })
                #expect(answer.status == status)
                let isAllowed = origins.contains(origin)
                #expect(answer["Access-Control-Allow-Origin"] == (isAllowed ? origin : nil))
                #expect((answer["Access-Control-Expose-Headers"] != nil) == isAllowed)
                #expect((answer["Timing-Allow-Origin"] != nil) == isAllowed)
                // Whether it is a page's of these origins or not, a cache must not take it for the other.
                #expect(answer["Vary"] == (status == 404 ? "Origin" : "Accept, Origin"))
            }
        }
        let nobody = try await live.ask(china)
        nobody.expect(["Access-Control-Allow-Origin": nil, "Vary": "Accept, Origin"])
    }

    @Test func aQuestionBeforeARequestIsAnswered() async throws {
        let live = try await LiveServer.start { $0.http.allowOrigin = ["https://a.example"] }
        let fields = [
            "Origin": "https://a.example", "Access-Control-Request-Method": "GET",
            "Access-Control-Request-Headers": "authorization",
        ]
        let answer = try await live.ask(china, method: "OPTIONS", fields: fields)
        #expect(answer.body.isEmpty)
        answer.expect(
            204,
            [
                "Allow": "GET, HEAD, OPTIONS", "Access-Control-Allow-Headers": "Authorization",
                "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
                "Access-Control-Allow-Origin": "https://a.example",
                "Access-Control-Max-Age": "86400",
            ])
        let quiet = try await LiveServer.start()
        let other = try await quiet.ask(china, method: "OPTIONS", fields: fields)
        #expect(other.status == 204 && other["Allow"] == "GET, HEAD, OPTIONS")
        let picture = try await quiet.ask(china, fields: fields)
        for answer in [other, picture] {
            let names = answer.fields.lines.map { $0.name.lowercased() }
            #expect(names.filter { $0.hasPrefix("access-control") } == [])
            #expect(answer["Vary"] == nil)
        }
    }

    @Test(arguments: [
        (["Sec-CH-Width": "330"], 480), (["Width": "330"], 480), (["Sec-CH-Width": "9999"], 640),
        (["Sec-CH-Width": "330", "Sec-CH-DPR": "1.2"], 480), (["Sec-CH-Width": "-1"], 640),
    ])
    func hintsOfClientsChooseTheWidthWhereTheURLLeavesItOpen(
        hints: [String: String], width: Int
    ) async throws {
        let live = try await LiveServer.start { $0.negotiation.usesClientHints = true }
        #expect(try await live.ask(.china(), fields: hints).pixelSize.width == width)
        #expect(try await live.ask(.china("w:50/dpr:1"), fields: hints).pixelSize.width == 50)
        let deaf = try await LiveServer.start()
        let whole = try await deaf.ask(.china(), fields: hints)
        #expect(try whole.pixelSize.width == 640)
        whole.expect(["Accept-CH": nil, "Vary": nil])
    }

    @Test(arguments: [
        ("/_/w:50/dpr:1/plain/local:///china.jpg", false),
        ("/_/rs:fit:50:50/dpr:2/plain/local:///china.jpg", false),
        ("/_/pr:fixed/plain/local:///china.jpg", false),
        ("/_/raw:1/plain/local:///china.jpg", false),
        ("/iiif/3/china/full/50,/0/default.jpg", false),
        ("/-/w=50,dpr=1/local:///china.jpg", false),
        ("/_/w:50/plain/local:///china.jpg", true), ("/_/dpr:2/plain/local:///china.jpg", true),
        ("/_/h:50/plain/local:///china.jpg", true), ("/-/h=50/local:///china.jpg", true),
    ])
    func hintsAreNamedWhereTheyCouldAct(target: String, acts: Bool) async throws {
        let live = try await LiveServer.start {
            $0.negotiation.usesClientHints = true
            $0.processing.presets = ["fixed=w:50/dpr:1"]
            $0.processing.allowsRaw = true
            $0.serveIIIF()
        }
        for fields in [[:], ["Sec-CH-Width": "330", "Sec-CH-DPR": "2"]] {
            let answer = try await live.ask(target, fields: fields)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer["Vary"] == (acts ? "Sec-CH-DPR, DPR, Sec-CH-Width, Width" : nil))
            #expect(answer["Accept-CH"] == "Sec-CH-DPR, Sec-CH-Width")
        }
    }

    @Test func anAnswerNamesTheSourceAsThePlaceWhereThePictureIsAtHome() async throws {
        let origin = try await OriginServer.start(files: ["/a.png": picture])
        let live = try await LiveServer.start(origin) { $0.http.sendsCanonical = true }
        let base = origin.url("/a.png").absoluteString
        let rows = [
            ("", "<\(base)>; rel=\"canonical\""),
            ("%3Fsize=1", "<\(base)?size=1>; rel=\"canonical\""), ("%3Ftoken=1", nil),
            ("%3Fa=1%26X-Amz-Date=1", nil),
        ]
        for (query, link) in rows {
            let answer = try await live.ask("/_/w:10/plain/\(base)\(query)")
            #expect(answer.status == 200)
            #expect(answer["Link"] == link, "\(query)")
        }
        #expect(try await live.ask(china)["Link"] == nil)
        let quiet = try await LiveServer.start(origin) { _ in }
        #expect(try await quiet.ask("/_/w:10/plain/\(base)")["Link"] == nil)
    }

    @Test func tagsAndDatesAreSentAndAskedForUnlessTheSettingsSayNo() async throws {
        let usual = try await LiveServer.start()
        let first = try await usual.ask(china)
        let tag = try #require(first["ETag"])
        let date = try #require(first["Last-Modified"])
        for (sendsTag, sendsDate) in [(true, true), (false, true), (true, false), (false, false)] {
            let live = try await LiveServer.start {
                $0.http.sendsETag = sendsTag
                $0.http.sendsLastModified = sendsDate
            }
            let answer = try await live.ask(china)
            answer.expect(["ETag": sendsTag ? tag : nil, "Last-Modified": sendsDate ? date : nil])
            let tagged = try await live.ask(china, fields: ["If-None-Match": tag])
            #expect(tagged.status == (sendsTag ? 304 : 200))
            let dated = try await live.ask(china, fields: ["If-Modified-Since": date])
            #expect(dated.status == (sendsDate ? 304 : 200))
        }
    }

    @Test func documentsSpeakOfThePublicAddressOfTheSettings() async throws {
        let live = try await LiveServer.start {
            $0.publicURL = "https://img.example.com/pictures"
            $0.pathPrefix = "inner"
            $0.serveIIIF()
        }
        let base = "https://img.example.com/pictures/iiif/3/china"
        let document = try await live.ask("/inner/iiif/3/china/info.json")
        #expect(document.text.contains("\"id\":\"\(base)\""), "\(document.text)")
        let picture = try await live.ask("/inner/iiif/3/china/full/100,/0/default.jpg")
        #expect(picture["Link"]?.contains("<\(base)/full/100,67/0/default.jpg>") == true)
        let leads = try await live.ask("/inner/iiif/3/china")
        leads.expect(303, ["Location": "\(base)/info.json"])
    }

    @Test func resultsOfTooManyBytesAreRefused() async throws {
        let live = try await LiveServer.start { $0.limits.maxResultBytes = 2000 }
        for (target, outcome) in [
            (.china("w:600", "@png"), "422 source_too_complex"), (.china("w:9", "@png"), "200 "),
            (.china("skp:jpg"), "422 source_too_complex"),
        ] as [(String, String)] { #expect(try await live.outcome(target) == outcome, "\(target)") }
    }

    @Test func framesOfAnimationsMayHaveALimitOfTheirOwn() async throws {
        let animation = "/_/plain/local:///kingfisher.gif"
        let usual = try await LiveServer.start()
        let info = try await usual.ask("/info/_/d:1/animation:1/plain/local:///kingfisher.gif")
        let numbers = try ["width", "height", "frames"].map { try #require(info.json[$0] as? Int) }
        let (pixels, frames) = (numbers[0] * numbers[1], numbers[2])
        try #require(frames > 1)
        for (all, each, status) in [
            (pixels * frames, nil, 200), (pixels * frames - 1, nil, 422),
            (pixels, pixels, 200), (pixels * frames, pixels - 1, 422),
        ] {
            let live = try await LiveServer.start {
                $0.limits.maxPixels = all
                $0.limits.maxFramePixels = each
            }
            #expect(try await live.ask(animation).status == status, "\(all) \(each ?? 0)")
        }
    }

    @Test func whatIsNotKeptSaysThatTheCacheWasPassedBy() async throws {
        let none = try await LiveServer.start {
            $0.cache.results.bytes = 0
            $0.cache.results.memoryBytes = 0
        }
        for _ in 0..<2 {
            #expect(try await none.ask(china)["Cache-Status"] == "halcyon; fwd=bypass")
        }
        let origin = try await OriginServer.start()
        origin.route("/a.png", .png(picture).cacheControl("no-store"))
        let passing = try await LiveServer.start(origin) { $0.http.passesCacheControl = true }
        for _ in 0..<2 {
            let answer = try await passing.ask("/_/w:10/plain/\(origin.url("/a.png"))")
            #expect(answer["Cache-Status"] == "halcyon; fwd=bypass")
        }
        #expect(origin.requestCount == 2)
    }
}
