import Foundation
import HalcyonHTTP
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import HalcyonWork
import Testing

/// The page for trying things out, as it is without its script, and who may ask it for something.
@Suite struct PageTests {
    private func start(
        _ time: TimeSource = .system, _ change: LiveServer.Change = { _ in }
    ) async throws -> LiveServer {
        try await LiveServer.start(time: time) {
            $0.playground = true
            try change(&$0)
        }
    }

    /// The fields of a request that the page makes.
    private func fields(_ page: LiveServer.Answer) throws -> [String: String] {
        let cookie = try #require(page["Set-Cookie"]?.prefix { $0 != ";" })
        let token = try #require(cookie.split(separator: "=").last)
        return [
            "Cookie": String(cookie), "X-Page-Token": String(token),
            "Sec-Fetch-Site": "same-origin", "Accept": "application/json",
        ]
    }

    /// Posts something as the page does.
    private func post(
        _ live: LiveServer, _ path: String, _ body: Data
    ) async throws -> LiveServer.Answer {
        let page = try await live.ask("/playground/")
        return try await live.ask(
            "/playground/\(path)", method: "POST", fields: try fields(page), body: body)
    }

    private func sign(_ live: LiveServer, _ query: String) async throws -> LiveServer.Answer {
        try await post(live, "sign", Data(query.utf8))
    }

    private func urls(_ live: LiveServer, _ query: String) async throws -> [String: Any] {
        let answer = try await sign(live, query)
        #expect(answer.status == 200, "\(answer.text)")
        return try answer.json
    }

    @Test func aNameThatHasComeToLeadToThisMachineGetsNoPage() async throws {
        let live = try await LiveServer.start { $0.playground = true }
        for (host, status) in [
            ("evil.example", 403), ("127.evil.example", 403), ("localhost:\(live.port)", 200),
            ("[::1]:\(live.port)", 200), ("127.0.0.1", 200),
        ] {
            #expect(
                try await live.ask("/playground/", fields: ["Host": host]).status == status,
                "\(host)")
        }
    }

    @Test func aQuoteWithAnAccentOnItEndsNoAttribute() async throws {
        let live = try await LiveServer.start { $0.playground = true }
        let page = try await live.ask("/playground/?source=kingfisher%22%CC%B8%20autofocus")
        #expect(page.body.firstRange(of: Data("kingfisher\"".utf8)) == nil)
        #expect(page.body.firstRange(of: Data("kingfisher&quot;".utf8)) != nil)
    }

    @Test func itIsThereByItselfOnlyWhereNothingHasToBeSigned() throws {
        var configuration = ImageServerConfiguration()
        configuration.requireSignatures()
        #expect(!configuration.showsPlayground)
        configuration.signature.isRequired = false
        #expect(configuration.showsPlayground)
        configuration.bind = [.tcp(host: "0.0.0.0", port: 0)]
        #expect(!configuration.showsPlayground)
        configuration.playground = true
        #expect(configuration.showsPlayground)
    }

    @Test(arguments: [
        ("/", "GET"), ("/playground/", "GET"), ("/playground/page.js", "GET"),
        ("/playground/sign", "POST"), ("/playground/upload", "POST"),
    ])
    func whereItIsOffThereIsNothing(target: String, method: String) async throws {
        let live = try await LiveServer.start()
        #expect(try await live.ask(target, method: method).status == (method == "GET" ? 404 : 405))
    }

    @Test func theStartLeadsToThePageBelowThePrefix() async throws {
        let live = try await start { $0.pathPrefix = "images" }
        for path in ["/images/", "/images/playground"] {
            let answer = try await live.ask(path)
            answer.expect(303, ["Location": "/images/playground/"])
        }
        let page = try await live.ask("/images/playground/?source=local:///china.jpg&w=30")
        #expect(page.status == 200)
        #expect(page.text.contains("src=\"/images/_/rs:fit:30:0:0/plain/local:///china.jpg\""))
        #expect(page["Set-Cookie"]?.contains("Path=/images/playground/; HttpOnly") == true)
    }

    @Test func aWatermarkHasControlsWhereTheServerHasOne() async throws {
        let without = try await start()
        let plain = try await without.ask("/playground/").text
        #expect(!plain.contains("name=\"wm\""))
        let live = try await start {
            $0.watermark.picture.path = try #require(LiveServer.samples) + "/kingfisher.png"
        }
        let query = "source=local:///china.jpg&w=60"
        let rows = [
            ("&wm=0.5", "/wm:0.5"), ("&wmp=re", "/wm:1:re"), ("&wm=0.3&wmp=no", "/wm:0.3:no"),
            ("&wms=0.2&wmp=ea", "/wm:1:ea:0:0:0.2"),
        ]
        for (fields, option) in rows {
            let page = try await live.ask("/playground/?" + query + fields)
            #expect(page.text.contains("name=\"wm\""))
            let path = "/_/rs:fit:60:0:0\(option)/plain/local:///china.jpg"
            #expect(page.text.contains("src=\"\(path)\""))
            #expect(try await live.ask(path).status == 200)
        }
        let wrong = try await sign(live, query + "&wm=2")
        #expect(wrong.status == 404)
        #expect(wrong.text.contains("invalid_option"))
    }

    @Test func nothingButTheServersOwnFilesMayRun() async throws {
        let live = try await start()
        let page = try await live.ask("/playground/")
        let policy = try #require(page["Content-Security-Policy"])
        #expect(policy.contains("default-src 'none'"))
        #expect(!policy.contains("unsafe"))
        #expect(page.fields.values("Content-Security-Policy").count == 1)
        #expect(!page.text.contains("style=\"") && !page.text.contains(" onclick"))
        #expect(page["Cache-Control"] == "no-store")
        var weight = page.body.count
        for (file, type) in [("page.css", "text/css"), ("page.js", "text/javascript")] {
            let answer = try await live.ask("/playground/\(file)")
            answer.expect(200, ["Content-Type": "\(type); charset=utf-8"])
            let tag = try #require(answer["ETag"])
            let again = try await live.ask("/playground/\(file)", fields: ["If-None-Match": tag])
            #expect(again.status == 304)
            weight += answer.body.count
        }
        #expect(weight <= 60 * 1024)
    }

    @Test func withoutItsScriptTheFormIsAGETAndThePictureIsShown() async throws {
        let live = try await start()
        let page = try await live.ask(
            "/playground/?source=local%3A%2F%2F%2Fchina.jpg&w=40&h=30&rt=fill&f=webp&el=1")
        let path = try #require(
            page.text.firstMatch(of: /<img id="picture"[^>]*src="([^"]+)"/).map { String($0.1) })
        #expect(path == "/_/rs:fill:40:30:1/plain/local:///china.jpg@webp")
        let picture = try await live.ask(path)
        picture.expect(200, ["Content-Type": "image/webp"])
        #expect(page.text.contains("value=\"40\""))
        #expect(page.text.contains("<option value=\"fill\" selected>"))
    }

    @Test(arguments: [
        "\"><script>alert(1)</script>", "javascript:alert(1)", "'><img src=x onerror=alert(1)>",
        "{{token}}", "&amp;", "local:///a b.jpg\" onload=\"x",
    ])
    func whatIsTypedIsShownAsText(source: String) async throws {
        let live = try await start()
        let plain = try await live.ask("/playground/")
        let typed = try #require(
            source.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let page = try await live.ask("/playground/?source=\(typed)")
        #expect(page.status == 200)
        let shown = source.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
            .replacing("'", with: "&#39;")
        #expect(page.text.contains("name=\"source\" value=\"\(shown)\""))
        for part in ["<script", "<img id", "<img src=x", "src=\"java", "href=\"java"] {
            #expect(
                page.text.ranges(of: part).count == plain.text.ranges(of: part).count, "\(part)")
        }
    }

    @Test func whatTheFormHasWrongIsToldWithItsCode() async throws {
        let live = try await start()
        let page = try await live.ask("/playground/?source=local:///china.jpg&q=500")
        #expect(page.status == 200)
        #expect(page.text.contains("<strong>A value is not one that its field can have</strong>"))
        #expect(page.text.contains("<details id=\"raw\"><summary>Details</summary>"))
        #expect(page.text.contains("<code>invalid_option</code>"))
        #expect(try await live.ask("/playground/").text.contains("<details id=\"raw\" hidden>"))
        let slash = try await sign(live, "source=local:///china.jpg&w=1/el:1")
        #expect(slash.status == 404)
        #expect(slash.text.contains("Width"))
        #expect(try await sign(live, "w=30").text.contains("invalid_path"))
    }

    /// What the page says of errors, by their codes.
    private func words(_ live: LiveServer) async throws -> [String: String] {
        let page = try await live.ask("/playground/").text
        let json = try #require(
            page.firstMatch(of: /<script id="words" type="application\/json">(.*)<\/script>/)?.1)
        return try JSONDecoder().decode([String: String].self, from: Data(json.utf8))
    }

    @Test func eachErrorIsSaidInWords() async throws {
        let words = try await words(start())
        #expect(Set(words.keys) == Set(ServerFailure.all.map(\.code)))
        for (code, text) in words {
            #expect(text.contains(" ") && !text.contains("_") && !text.hasSuffix("."), "\(code)")
        }
        // What stands before the reason has no colon, by which the two are told apart.
        #expect(!ServerFailure.all.contains { $0.summary.contains(":") })
    }

    @Test(
        arguments: [
            ([], true, "This server fetches from no other servers; set sources.http.allow"),
            (["*"], false, "This server fetches from no other servers; set sources.http.allow"),
            (["*"], true, "This server does not fetch from there; add it to sources.http.allow"),
        ] as [([String], Bool, String)])
    func whatIsNotAllowedIsToldWithItsSetting(
        allowed: [String], isEnabled: Bool, text: String
    ) async throws {
        let live = try await start {
            $0.sources.http.allow = allowed
            $0.sources.http.isEnabled = isEnabled
        }
        #expect(try await words(live)["source_not_allowed"] == text)
    }

    @Test func theSamplesAreLinksInAGroup() async throws {
        let page = try await start().ask("/playground/").text
        let group = try #require(
            page.firstMatch(
                of: /<div id="samples" role="group" aria-label="Sample pictures">([\s\S]*?)<\/div>/)?
                .1)
        #expect(group.matches(of: /<a class="sample" href="[^"]+" data-source="local:/).count > 3)
        // All are reached where no script adds the keys.
        #expect(!group.contains("tabindex"))
    }

    @Test func whatThePageSignsIsSignedWithTheFirstKey() async throws {
        let live = try await start { $0.requireSignatures() }
        let urls = try await urls(live, "source=local%3A%2F%2F%2Fchina.jpg")
        let path = "/\(LiveServer.signature)/plain/local:///china.jpg"
        #expect(urls["path"] as? String == path)
        #expect(urls["url"] as? String == "http://127.0.0.1:\(live.port)\(path)")
        for name in ["path", "original", "info"] {
            let path = try #require(urls[name] as? String)
            #expect(try await live.ask(path).status == 200, "\(name)")
        }
        #expect(try await !live.ask("/playground/").text.contains("736563726574"))
    }

    @Test(arguments: [
        [String: String](), ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"],
        ["X-Page-Token": "00000000000000000000000000000000"], ["Cookie": "a=b"],
        ["Sec-Fetch-Site": "none"],
    ])
    func requestsThatDoNotComeFromThePageAreRefused(change: [String: String]) async throws {
        let live = try await start()
        let page = try await live.ask("/playground/")
        let given = change.isEmpty ? [:] : try fields(page).merging(change) { $1 }
        for path in ["/playground/sign", "/playground/upload"] {
            let answer = try await live.ask(
                path, method: "POST", fields: given, body: Data("source=local:///china.jpg".utf8))
            #expect(answer.status == 403)
        }
    }

    @Test func browsersThatTellOnlyTheOriginAreTakenByThat() async throws {
        let live = try await start()
        var given = try fields(try await live.ask("/playground/"))
        given["Sec-Fetch-Site"] = nil
        for (origin, status) in [("http://127.0.0.1:\(live.port)", 200), ("http://evil", 403)] {
            given["Origin"] = origin
            let answer = try await live.ask(
                "/playground/sign", method: "POST", fields: given,
                body: Data("source=local:///china.jpg".utf8))
            #expect(answer.status == status)
        }
    }

    @Test func anUploadIsForThePageAlone() async throws {
        let live = try await start()
        let answer = try await post(live, "upload", PNGFixture.green)
        #expect(answer.status == 200, "\(answer.text)")
        let source = try #require(
            answer.text.firstMatch(of: /"source":"(upload:[0-9a-f]{32})"/).map { String($0.1) })
        let urls = try await urls(live, "source=\(source)&w=10")
        let path = try #require(urls["path"] as? String)
        #expect(path == "/playground/image/_/rs:fit:10:0:0/plain/\(source)")
        let small = try await live.ask(path)
        #expect(try small.pixelSize == PixelSize(width: 10, height: 5))
        #expect(small["Cache-Control"] == "no-store")
        let info = try await live.ask(try #require(urls["info"] as? String))
        #expect(info.text.contains("\"width\":40"), "\(info.text)")
        #expect(urls["url"] == nil)
        let other = "upload:" + String(repeating: "0", count: 32)
        for target in [
            "/_/plain/\(source)", "/-/\(source)", "/info/_/plain/\(source)",
            "/playground/image/_/plain/local:///china.jpg", "/playground/image/_/plain/\(other)",
        ] { #expect(try await live.ask(target).status == 404, "\(target)") }
    }

    @Test func whatIsNoPictureOrTooLargeIsNotKept() async throws {
        let live = try await start { $0.limits.maxSourceBytes = 1000 }
        for (body, code) in [
            (Data("Hello".utf8), "source_format"), (Data(count: 2000), "source_too_large"),
        ] {
            let answer = try await post(live, "upload", body)
            #expect(answer.status == 422 && answer.code == code, "\(answer.text)")
        }
    }

    @Test func anUploadThatDoesNotComeToItsEndHasATimeLimit() async throws {
        let clock = ManualClock()
        let live = try await start(clock.time) { $0.work.requestTimeout = .seconds(7) }
        let given = try fields(try await live.ask("/playground/"))
        let client = try RawClient(port: live.port)
        let lines = given.map { "\($0): \($1)\r\n" }.joined()
        client.send(
            "POST /playground/upload HTTP/1.1\r\nHost: 127.0.0.1\r\n\(lines)"
                + "Content-Length: 100\r\n\r\n0123456789")
        await clock.waitForSleeper(until: .seconds(7))
        clock.advance(by: .seconds(7))
        let answer = await client.answer()
        #expect(answer?.status == 503 && answer?.body.contains("deadline") == true)
    }

    @Test func aPublicPageSaysThatItIsOneAndListsNoFiles() async throws {
        let live = try await start {
            $0.bind = [.tcp(host: "0.0.0.0", port: 0)]
            $0.signature.keys = ["943b421c9eb07c83"]
            $0.signature.salts = ["520f986b998545b4"]
            $0.signature.isRequired = true
        }
        let page = try await live.ask("/playground/")
        #expect(page.text.contains("This page is public"))
        #expect(!page.text.contains("data-source"))
        let own = try await start()
        let usual = try await own.ask("/playground/")
        #expect(!usual.text.contains("This page is public"))
        #expect(usual.text.contains("data-source=\"local:///china.jpg\""))
    }

    @Test(arguments: [
        ("", "/full/max/0/default.jpg"), ("&w=320", "/full/320,214/0/default.jpg"),
        ("&w=1280&el=1&f=png", "/full/^1280,854/0/default.png"),
        ("&w=214&rot=90&f=webp", "/full/321,214/90/default.webp"),
        ("&flh=1", "/full/max/!0/default.jpg"), ("&bl=2", nil), ("&rt=fill&w=100&h=100", nil),
        ("&w=5000", "/full/max/0/default.jpg"),
    ])
    func theURLOfIIIFIsThatOfTheSamePicture(query: String, end: String?) async throws {
        let live = try await start { $0.serveIIIF() }
        let urls = try await urls(live, "source=local:///china.jpg" + query)
        guard let end else { return #expect(urls["iiif"] == nil) }
        let iiif = try #require(urls["iiif"] as? String)
        #expect(iiif == "http://127.0.0.1:\(live.port)/iiif/3/china.jpg" + end)
        let path = try #require(urls["path"] as? String)
        let picture = try await live.ask(path)
        let same = try await live.ask(try #require(URL(string: iiif)?.path))
        #expect(try picture.pixelSize == same.pixelSize)
    }
}
