import Foundation
import HalcyonHTTP
import HalcyonPixels
import HalcyonSamples
import HalcyonServer
import HalcyonTestKit
import Testing

/// Pictures and documents by the IIIF Image API 3.0.
@Suite struct IIIFTests {
    private func start() async throws -> LiveServer {
        try await LiveServer.start { $0.serveIIIF() }
    }

    @Test func theDocumentSpeaksOfTheURLThatWasAskedFor() async throws {
        let live = try await start()
        let answer = try await live.ask("/iiif/3/china/info.json")
        #expect(answer.status == 200)
        #expect(answer["Content-Type"]?.hasPrefix("application/ld+json;profile=") == true)
        answer.expect(["Access-Control-Allow-Origin": "*", "Vary": "Accept"])
        let document = try answer.json
        #expect(document["id"] as? String == "http://127.0.0.1:\(live.port)/iiif/3/china")
        #expect(document["width"] as? Int == 640)
        #expect(document["height"] as? Int == 427)
        #expect(document["profile"] as? String == "level2")
        let plain = try await live.told("/iiif/3/china/info.json")
        #expect(plain["Content-Type"] == "application/json")
    }

    @Test(arguments: [
        ("full/max/0/default.jpg", 640, 427), ("square/max/0/default.jpg", 427, 427),
        ("600,400,100,100/max/0/default.jpg", 40, 27), ("full/320,/0/default.webp", 320, 214),
        ("full/,100/0/color.jpg", 150, 100), ("full/!200,200/0/gray.jpg", 200, 133),
        ("full/200,200/0/bitonal.png", 200, 200), ("full/^1280,/0/default.jpg", 1280, 854),
        ("full/max/90/default.jpg", 427, 640), ("full/max/!180/default.jpg", 640, 427),
    ])
    func picturesHaveTheirSizes(parameters: String, width: Int, height: Int) async throws {
        let live = try await start()
        let answer = try await live.ask("/iiif/3/china.jpg/\(parameters)")
        #expect(try answer.pixelSize == PixelSize(width: width, height: height))
    }

    @Test func aPictureIsKeptByItsCanonicalForm() async throws {
        let live = try await start()
        let first = try await live.ask("/iiif/3/china/full/pct:50/0/default.jpg")
        let same = try await live.ask("/iiif/3/china/0,0,640,427/320,214/360/color.jpg")
        #expect(first["ETag"] == same["ETag"])
        #expect(
            same["Link"]?.contains(
                "<http://127.0.0.1:\(live.port)/iiif/3/china/full/320,214/0/default.jpg>;rel=\"canonical\""
            ) == true)
        #expect(try await live.metric("halcyon_images_total{in=\"jpeg\",out=\"jpeg\"}") == 1)
        let tag = try #require(first["ETag"])
        let target = "/iiif/3/china/full/pct:50/0/default.jpg"
        #expect(try await live.ask(target, fields: ["If-None-Match": tag]).status == 304)
    }

    @Test func aPictureHasTheFieldsOfAnyOther() async throws {
        let live = try await start()
        let target = "/iiif/3/china.jpg/full/64,/0/default.png"
        let made = try await live.ask(target)
        #expect(made.status == 200 && made["Content-Type"] == "image/png")
        #expect(made["Content-Disposition"] == "inline; filename=\"china.png\"")
        #expect(made["Cache-Status"] == "halcyon; fwd=uri-miss; stored")
        made.expect(["Accept-Ranges": "none", "Cross-Origin-Resource-Policy": "cross-origin"])
        #expect(made["Server-Timing"]?.contains("encode;dur=") == true)
        let date = try #require(made["Last-Modified"])
        #expect(try await live.ask(target)["Cache-Status"] == "halcyon; hit; detail=memory")
        let unchanged = try await live.ask(target, fields: ["If-Modified-Since": date])
        #expect(unchanged.status == 304)
        #expect(unchanged["ETag"] == made["ETag"] && unchanged["Link"] == made["Link"])
        #expect(try await live.metric("halcyon_http_response_bytes_count{format=\"png\"}") == 2)
    }

    @Test func whatIsSaidOfRightsStaysAsTheSettingsSay() async throws {
        let folder = try TemporaryDirectory()
        let exif = TaggedJPEG.exif(texts: [(0x010F, "Camera"), (0x8298, "Copyright Ada")])
        try folder.write(try TaggedJPEG.data(exif: exif), to: "a.jpg")
        for (strips, keeps) in [(true, true), (true, false), (false, false)] {
            let live = try await LiveServer.start {
                $0.serveIIIF(folder.url.path)
                $0.processing.stripsMetadata = strips
                $0.processing.keepsCopyright = keeps
            }
            let answer = try await live.ask("/iiif/3/a/full/max/0/default.jpg")
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(text.contains("Copyright Ada") == (keeps || !strips))
            #expect(text.contains("Camera") == !strips)
        }
    }

    @Test func viewersOfOtherSitesMayAskAndReadErrors() async throws {
        let live = try await start()
        let target = "/iiif/3/china/full/64,/0/default.jpg"
        let preflight = try await live.ask(
            target, method: "OPTIONS", fields: ["Origin": "https://viewer.example"])
        #expect(preflight.status == 204 && preflight["Access-Control-Allow-Origin"] == "*")
        #expect(preflight["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS")
        for (path, method, status) in [
            ("/iiif/3/china/full/0,/0/default.jpg", "GET", 400),
            ("/iiif/3/no/info.json", "GET", 404),
            ("/iiif/3/china", "GET", 303), (target, "DELETE", 405), (target, "GET", 200),
        ] {
            let answer = try await live.ask(path, method: method)
            #expect(answer.status == status)
            #expect(answer.fields.values("Access-Control-Allow-Origin") == ["*"], "\(path)")
        }
        let other = try await live.ask(.china("w:10"), method: "OPTIONS")
        #expect(other["Access-Control-Allow-Origin"] == nil)
        let own = try await LiveServer.start {
            $0.serveIIIF()
            $0.http.allowOrigin = ["https://viewer.example"]
        }
        let stranger = try await own.ask(target, fields: ["Origin": "https://else.example"])
        #expect(stranger["Access-Control-Allow-Origin"] == nil)
    }

    @Test func colourIsRGBAlsoOfGreySources() async throws {
        let folder = try TemporaryDirectory()
        let grey = PixelGrid(width: 40, height: 30) { x, _ in
            Pixel(UInt8(x * 6), UInt8(x * 6), UInt8(x * 6))
        }
        try folder.write(PNGFixture.data(grey, as: .gray8), to: "a.png")
        let live = try await LiveServer.start { $0.serveIIIF(folder.url.path) }
        let answer = try await live.ask("/iiif/3/a/full/max/0/color.png")
        #expect(answer.status == 200)
        // The kind of colours in the header of PNG: RGB.
        #expect(answer.body[answer.body.startIndex + 25] == 2)
    }

    @Test func bitonalPicturesHaveTwoColours() async throws {
        let live = try await start()
        let answer = try await live.ask("/iiif/3/china/full/64,/0/bitonal.png")
        let bitmap = try Image.decoding(answer.body).bitmap()
        #expect(Set(bitmap.data) == [0, 255])
    }

    @Test func identifiersMayStandInATable() async throws {
        let folder = try TemporaryDirectory()
        let table = try folder.write(
            Data(#"{"book/1":"local:///china.jpg","chelsea":"local:///china.jpg"}"#.utf8),
            to: "ids.json")
        let live = try await LiveServer.start {
            $0.iiif.isEnabled = true
            $0.iiif.tables = [table.path]
            $0.iiif.directories = [try SamplePictures().directory.path]
            $0.iiif.rights = "https://creativecommons.org/licenses/by/4.0/"
            $0.iiif.partOf = ["https://example.org/m Manifest"]
        }
        // The table goes first.
        for identifier in ["book%2F1", "chelsea", "china"] {
            let answer = try await live.ask("/iiif/3/\(identifier)/info.json")
            let document = try answer.json
            #expect(document["height"] as? Int == 427, "\(identifier)")
            #expect(document["rights"] as? String == "https://creativecommons.org/licenses/by/4.0/")
            #expect(
                document["partOf"] as? [[String: String]]
                    == [["id": "https://example.org/m", "type": "Manifest"]])
            #expect(document["seeAlso"] == nil && document["service"] == nil)
        }
        #expect(try await live.ask("/iiif/3/book-2/info.json").status == 404)
    }

    @Test func itIsOffUnlessItIsTurnedOn() async throws {
        let live = try await LiveServer.start()
        #expect(try await live.ask("/iiif/3/china/info.json").status == 404)
    }
}
