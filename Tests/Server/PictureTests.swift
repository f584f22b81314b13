import Foundation
import Halcyon
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import Logging
import Testing

/// Pictures of local sources: sizes, formats, headers, conditions.
@Suite struct PictureTests {
    @Test func aPictureHasTheSizeAndTheFormatOfItsURL() async throws {
        let live = try await LiveServer.start()
        let answer = try await live.ask(.china("rs:fit:300:300", "@webp"))
        #expect(answer.status == 200 && answer["Content-Type"] == "image/webp")
        #expect(answer["Content-Length"] == "\(answer.body.count)")
        #expect(answer["Content-Disposition"] == "inline; filename=\"china.webp\"")
        #expect(ImageSniffer.format(of: answer.body) == .WebP)
        #expect(try answer.pixelSize == PixelSize(width: 300, height: 200))
    }

    /// Of each kind of step one; all sizes are in `GeometryTests`.
    @Test(arguments: [
        ("", 640, 427), ("/w:100", 100, 67), ("/rs:fit:1000:1000:1", 1000, 667),
        ("/rs:fill:800:200:1", 800, 200), ("/rs:fill-down:800:200", 640, 160),
        ("/rs:force:300:300", 300, 300), ("/rs:fit:300:300:0:1", 300, 300),
        ("/rs:fit:1000:500/exar:1", 854, 427), ("/rs:fit:300:300/pd:10/dpr:2", 640, 440),
        ("/rs:fill:100:100/g:sm", 100, 100), ("/c:200:100:sm", 200, 100),
        ("/w:60/bl:0.8/sh:1/pix:3", 60, 40), ("/rot:270/c:100:50:nowe", 100, 50),
        ("/fl:1:1/w:50", 50, 33), ("/mrd:320", 320, 214),
    ])
    func sizesAreThoseOfTheGrammar(options: String, width: Int, height: Int) async throws {
        let live = try await LiveServer.start()
        let answer = try await live.ask("/_\(options)/plain/local:///china.jpg")
        #expect(try answer.pixelSize == PixelSize(width: width, height: height))
    }

    @Test func everyAnswerHasTheHeadersThatKeepBrowsersFromTrouble() async throws {
        let live = try await LiveServer.start()
        let targets = ["/_/w:20/plain/local:///china.jpg", "/_/w:20/plain/local:///no.jpg", "/"]
        for target in targets {
            let answer = try await live.ask(target, fields: ["X-Request-ID": "abc-1"])
            #expect(answer["X-Content-Type-Options"] == "nosniff")
            #expect(answer["Content-Security-Policy"]?.hasPrefix("sandbox; default-src") == true)
            answer.expect(["X-Request-ID": "abc-1", "Server": "halcyon"])
            #expect(answer["Date"] != nil)
        }
        let other = try await live.ask("/", fields: ["X-Request-ID": "bad id"])
        #expect(other["X-Request-ID"]?.utf8.count == 32)
    }

    @Test func sizesAreToldWhereThatIsAskedFor() async throws {
        let names = [
            "X-Origin-Width", "X-Origin-Height", "X-Origin-Content-Length", "X-Result-Width",
            "X-Result-Height",
        ]
        let target = "/_/w:50/plain/local:///china.jpg"
        let live = try await LiveServer.start { $0.http.sendsDebugHeaders = true }
        let answer = try await live.ask(target)
        #expect(names.map { answer[$0] } == ["640", "427", "196653", "50", "33"])
        #expect(answer["Server-Timing"] != nil)
        let quiet = try await LiveServer.start()
        let plain = try await quiet.ask(target)
        #expect(names.allSatisfy { plain[$0] == nil })
    }

    @Test func headHasTheFieldsOfGetAndNoBody() async throws {
        let live = try await LiveServer.start()
        let target = "/_/rs:fit:30:30/plain/local:///china.jpg"
        let head = try await live.ask(target, method: "HEAD")
        let get = try await live.ask(target)
        #expect(head.status == 200 && head.body.isEmpty)
        head.expect(["Content-Length": "\(get.body.count)", "ETag": get["ETag"]])
    }

    @Test func otherMethodsAreToldWhichThereAre() async throws {
        let live = try await LiveServer.start()
        let target = "/_/w:20/plain/local:///china.jpg"
        for method in ["POST", "DELETE", "PATCH"] {
            let answer = try await live.ask(target, method: method)
            answer.expect(405, ["Allow": "GET, HEAD, OPTIONS", "Cache-Control": "no-store"])
        }
        let event = try await live.loggedRequest()
        #expect(event.level == .debug && event["code"] == "method_not_allowed")
        let options = try await live.ask(target, method: "OPTIONS")
        options.expect(204, ["Allow": "GET, HEAD, OPTIONS", "Content-Length": nil])
    }

    @Test func aClientThatHasThePictureGetsNone() async throws {
        let live = try await LiveServer.start()
        let target = "/_/w:50/plain/local:///china.jpg"
        // Nobody has it made only to be told that he has it.
        #expect(try await live.ask(target, fields: ["If-None-Match": "*"]).status == 304)
        #expect(try await live.metric("halcyon_images_total{") == 0)
        let first = try await live.ask(target)
        let tag = try #require(first["ETag"])
        #expect(tag.hasPrefix("W/\""))
        for value in [tag, "*", "\"other\", \(tag)", String(tag.dropFirst(2))] {
            let answer = try await live.ask(target, fields: ["If-None-Match": value])
            answer.expect(304, ["ETag": tag, "Content-Type": nil, "Content-Length": nil])
            #expect(answer.body.isEmpty)
        }
        #expect(try await live.ask(target, fields: ["If-None-Match": "\"other\""]).status == 200)
        let date = try #require(first["Last-Modified"])
        #expect(try await live.ask(target, fields: ["If-Modified-Since": date]).status == 304)
    }

    @Test func plansThatMeanTheSameHaveOneTagAndOthersAnother() async throws {
        let live = try await LiveServer.start()
        let one = try await live.ask(.china("w:50/h:0/q:70"))
        let same = try await live.ask("/other/q:70/size:50/plain/local:/china.jpg")
        let different = try await live.ask(.china("w:50/q:71"))
        #expect(one["ETag"] == same["ETag"])
        #expect(same["Cache-Status"]?.contains("detail=memory") == true)
        #expect(one["ETag"] != different["ETag"])
    }

    @Test func otherSettingsMakeOtherPictures() async throws {
        let caches = try TemporaryDirectory()
        var answers: [LiveServer.Answer] = []
        for quality in [90, 20, 90] {
            let live = try await LiveServer.start {
                $0.cache.directory = caches.url.path
                $0.processing.quality = quality
            }
            answers.append(try await live.ask(.china("w:100")))
            await live.listening.stop()
        }
        #expect(answers[0].body.count > 2 * answers[1].body.count)
        #expect(answers[0]["ETag"] != answers[1]["ETag"])
        // And the same ones the same.
        #expect(answers[2].body == answers[0].body && answers[2]["ETag"] == answers[0]["ETag"])
        #expect(answers[2].hasDetail("disk"))
    }

    @Test func aModernFormatIsChosenForClientsThatNameIt() async throws {
        let live = try await LiveServer.start { $0.negotiation.formats = ["avif", "webp"] }
        let target = "/_/w:64/plain/local:///china.jpg"
        let table = [
            ("image/avif,image/webp,image/apng,image/*,*/*;q=0.8", "image/avif"),
            ("image/webp,image/avif;q=0.5", "image/webp"),
            ("*/*", "image/jpeg"), ("image/jpeg,image/webp;q=0.9", "image/jpeg"),
        ]
        var tags: Set<String> = []
        for (accept, type) in table {
            let answer = try await live.ask(target, fields: ["Accept": accept])
            #expect(answer["Content-Type"] == type, "\(accept)")
            #expect(answer["Vary"] == "Accept")
            tags.insert(answer["ETag"] ?? "")
        }
        #expect(tags.count == 3)
        let named = try await live.ask(target + "@png", fields: ["Accept": "image/avif"])
        named.expect(["Content-Type": "image/png", "Vary": nil])
    }

    @Test func aPictureTooSmallForTheFormatThatIsAcceptedMostGetsTheNext() async throws {
        let live = try await LiveServer.start { $0.negotiation.formats = ["avif", "webp"] }
        for (accept, type) in [
            ("image/avif,image/webp", "image/webp"), ("image/avif", "image/jpeg"),
            ("image/avif,image/webp;q=0.5", "image/webp"),
        ] {
            let answer = try await live.ask(.china("rs:force:15:40"), fields: ["Accept": accept])
            #expect(answer["Content-Type"] == type, "\(accept)")
            #expect(ImageSniffer.format(of: answer.body) == (type == "image/webp" ? .WebP : .JPEG))
        }
    }

    @Test func cachesMayGoOnWithAPictureForAsLongAsTheSettingsSay() async throws {
        let live = try await LiveServer.start {
            $0.http.ttl = .seconds(100)
            $0.http.staleWhileRevalidate = .seconds(20)
        }
        let answer = try await live.ask(.china("w:20"))
        #expect(answer["Cache-Control"] == "public, max-age=100, stale-while-revalidate=20")
    }

    @Test func anAnimationStaysOneWhereItsFormatCan() async throws {
        let live = try await LiveServer.start()
        func frames(_ option: String = "", _ format: String = "") async throws -> Int {
            let target = "/_/w:40\(option)/plain/local:///kingfisher.gif\(format)"
            return try Image.decoding(try await live.ask(target).body).frameCount
        }
        let all = try await frames()
        #expect(all > 2)
        #expect(try await frames("", "@webp") == all)
        #expect(try await frames("", "@jpg") == 1)
        #expect(try await frames("/maf:2") == 2)
    }

    @Test func aGroundOfOneColourShowsBehindWhatIsTransparent() async throws {
        let clear = PNGFixture.solid(Pixel(0, 0, 0, 0), width: 4, height: 4)
        let live = try await LiveServer.start(files: ["a.png": clear])
        #expect(try await color(live.ask("/_/bg:255:128:0/plain/local:///a.png")) == [255, 128, 0])
    }

    /// Four pixels of different colours, enlarged, so that turns can be seen.
    @Test(arguments: [
        ("", "RGBW"), ("/rot:90", "BRWG"), ("/rot:180", "WBGR"), ("/rot:270", "GWRB"),
        ("/fl:1", "GRWB"), ("/fl:0:1", "BWRG"), ("/rot:90/fl:1", "RBGW"),
        ("/rot:90/c:1:1:nowe", "B"), ("/c:1:1:soea", "W"), ("/fl:1/c:1:1:nowe", "G"),
    ])
    func turnsComeBeforeWhatIsSaidOfPlaces(options: String, colours: String) async throws {
        let grid = PixelGrid(width: 2, height: 2) { x, y in
            [[.red, .green], [.blue, Pixel(255, 255, 255)]][y][x]
        }
        let live = try await LiveServer.start(files: ["a.png": PNGFixture.data(grid)])
        let answer = try await live.ask("/_\(options)/plain/local:///a.png")
        let bitmap = try Image.decoding(answer.body).bitmap()
        let names: [[UInt8]: String] = [[255, 0, 0]: "R", [0, 255, 0]: "G", [0, 0, 255]: "B"]
        let found = stride(from: 0, to: bitmap.data.count, by: bitmap.channels).map {
            names[Array(bitmap.data[$0..<$0 + 3])] ?? "W"
        }
        #expect(found.joined() == colours)
    }
}
