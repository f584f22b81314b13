import Foundation
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import Testing

/// What is told of a source.
@Suite struct InfoTests {
    private func ask(_ live: LiveServer, _ target: String) async throws -> [String: Any] {
        let answer = try await live.ask(target)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer["Content-Type"] == "application/json")
        return try answer.json
    }

    @Test func withoutOptionsAllThatTheHeaderSaysIsTold() async throws {
        let live = try await LiveServer.start()
        let info = try await ask(live, "/info/_/plain/local:///china.jpg")
        let numbers = [
            "width": 640, "height": 427, "size": 196_653, "pages": 1, "orientation": 1, "bands": 3,
        ]
        for (name, value) in numbers { #expect(info[name] as? Int == value, "\(name)") }
        let texts = [
            "format": "jpeg", "mimeType": "image/jpeg", "colorspace": "srgb",
            "sampleFormat": "uchar",
        ]
        for (name, value) in texts { #expect(info[name] as? String == value, "\(name)") }
        #expect(info["hasAlpha"] as? Bool == false)
        #expect(Set(info.keys).subtracting(["exif", "profile"]).count == 11, "\(info.keys)")
    }

    @Test func optionsSayWhatIsTold() async throws {
        let live = try await LiveServer.start()
        let info = try await ask(live, "/info/_/d:1/s:0/animation:1/plain/local:///kingfisher.gif")
        let keys: Set = ["width", "height", "orientation", "frames", "delays", "loop", "duration"]
        #expect(Set(info.keys) == keys)
        #expect(info["frames"] as? Int == (info["delays"] as? [Int])?.count)
        let digest = try await ask(live, "/info/_/hash:sha256/plain/local:///china.jpg")
        #expect((digest["sha256"] as? String)?.utf8.count == 64)
        #expect(digest.count == 1)
    }

    @Test func coloursAreToldAsTheyAreStored() async throws {
        let grid = PixelGrid.gradient(width: 8, height: 6)
        let live = try await LiveServer.start(files: [
            "deep.png": PNGFixture.data(grid, as: .rgba16),
            "grey.png": PNGFixture.data(grid, as: .gray8), "plain.bmp": BMPFixture.data(grid),
            "swapped.jpg": try TaggedJPEG.data(profile: SwappedProfile.data),
        ])
        let rows: [(String, String?, Int?, String?, Bool, String?)] = [
            ("deep.png", "rgb16", 4, "ushort", true, nil),
            ("grey.png", "b-w", 1, "uchar", false, nil),
            ("swapped.jpg", "srgb", 3, "uchar", false, "swap"),
            // No words of libvips, which does not read it.
            ("plain.bmp", nil, nil, nil, false, nil),
        ]
        for (file, space, bands, format, hasAlpha, profile) in rows {
            let info = try await ask(live, "/info/_/cs:1/b:1/sf:1/plain/local:///\(file)")
            #expect(info["colorspace"] as? String == space, "\(file)")
            #expect(info["bands"] as? Int == bands, "\(file)")
            #expect(info["sampleFormat"] as? String == format, "\(file)")
            #expect(info["hasAlpha"] as? Bool == hasAlpha, "\(file)")
            #expect(info["profile"] as? String == profile, "\(file)")
        }
    }

    @Test func ofEXIFOnlyWhatDoesNoHarmIsToldUnlessTheSettingsSaySo() async throws {
        let long = String(repeating: "a", count: 3000)
        let exif = TaggedJPEG.exif(
            orientation: 6,
            texts: [
                (0x010F, "Cameras (and more)"), (0x0110, "Model One"), (0x8298, "By me"),
                (0x010E, long), (0xC62F, "serial 4711"),
            ])
        let files = ["a.jpg": try TaggedJPEG.data(exif: exif)]
        let careful = try await LiveServer.start(files: files)
        let target = "/info/_/exif:1/plain/local:///a.jpg"
        let told = try #require(try await ask(careful, target)["exif"] as? [String: Any])
        let texts = ["Make": "Cameras (and more)", "Model": "Model One", "Copyright": "By me"]
        for (name, text) in texts { #expect(told[name] as? String == text) }
        #expect(told["Orientation"] as? Int == 6)
        #expect((told["ImageDescription"] as? String).map { (1...1000).contains($0.count) } == true)
        let known: Set = ["Make", "Model", "Copyright", "Orientation", "ImageDescription"]
        // The library that reads EXIF adds what the standard demands.
        #expect(Set(told.keys).subtracting(["ColorSpace"]) == known)
        let open = try await LiveServer.start(files: files) {
            $0.info.includesPrivateMetadata = true
        }
        let all = try #require(try await ask(open, target)["exif"] as? [String: Any])
        #expect(Set(all.keys).isStrictSuperset(of: known))
        let size = try await ask(careful, "/info/_/d:1/plain/local:///a.jpg")
        #expect(size["orientation"] as? Int == 6)
        #expect(size["width"] as? Int == 16)
    }

    @Test(arguments: [
        ("bh:4:3", ["blurhash": "LxH2cX2swxX8l}WDjte;gJfjfQfj"]),
        ("blurhash::", ["blurhash": "LxH2cX2swxX8l}WDjte;gJfjfQfj"]),
        ("th:1", ["thumbhash": "3wcKNxpwd4eAeIiHiHiIeIiHCAeHcI8I"]),
    ])
    func hashesAreThoseOfOtherPrograms(options: String, hashes: [String: String]) async throws {
        let grid = PixelGrid(width: 32, height: 32) { Pixel(UInt8(8 * $0), UInt8(8 * $1), 128) }
        let live = try await LiveServer.start(files: ["a.png": PNGFixture.data(grid)])
        let info = try await ask(live, "/info/_/\(options)/plain/local:///a.png")
        #expect(info as? [String: String] == hashes)
    }

    @Test func coloursAreToldByTheirShares() async throws {
        let grid = PixelGrid(width: 16, height: 16) { x, _ in
            x < 12 ? Pixel(10, 20, 30) : Pixel(250, 240, 10)
        }
        let live = try await LiveServer.start(files: ["a.png": PNGFixture.data(grid)])
        let info = try await ask(live, "/info/_/a:1/dc:1/p:4/plain/local:///a.png")
        #expect(info["palette"] as? [String] == ["#0a141e", "#faf00a"])
        let dominant = try #require(info["dominantColors"] as? [[String: Any]])
        #expect(dominant.map { $0["color"] as? String } == ["#0a141e", "#faf00a"])
        #expect(dominant.map { $0["share"] as? Double } == [0.75, 0.25])
        let average = try #require(info["average"] as? [String: Int])
        #expect(Set(average.keys) == ["R", "G", "B", "A"])
        #expect(average["A"] == 255)
        // In linear light a quarter of bright yellow weighs more than in the bytes.
        #expect(average["R"].map { (120...150).contains($0) } == true, "\(average)")
    }

    @Test func pixelsAreReadWithinTheLimitsAndHeadersBeyondThem() async throws {
        let live = try await LiveServer.start { $0.limits.maxPixels = 1000 }
        let outcome = try await live.outcome("/info/_/bh:4:3/plain/local:///china.jpg")
        #expect(outcome == "422 source_too_complex")
        #expect(try await live.ask("/info/_/d:1/plain/local:///china.jpg").status == 200)
    }

    @Test func pixelsAreReadOnceForAllWhoAsk() async throws {
        let live = try await LiveServer.start()
        let target = "/info/_/bh:4:3/p:5/plain/local:///china.jpg"
        let first = try await live.ask(target)
        #expect(try await first.body == live.ask("/info/_/p:5/bh::/plain/local:///china.jpg").body)
        #expect(await live.loggedRequests(2).map { $0["cache"] } == ["miss", "hit"])
    }

    @Test func aClientThatKnowsItGetsNoneAgain() async throws {
        let live = try await LiveServer.start()
        let target = "/info/_/d:1/plain/local:///china.jpg"
        let tag = try #require(try await live.ask(target)["ETag"])
        #expect(try await live.ask(target, fields: ["If-None-Match": tag]).status == 304)
        let other = "/info/_/s:1/plain/local:///china.jpg"
        #expect(try await live.ask(other, fields: ["If-None-Match": tag]).status == 200)
    }

    @Test func informationIsSignedLikePictures() async throws {
        let live = try await LiveServer.start { $0.requireSignatures() }
        let signed = try #require(live.server.sign("/plain/local:///china.jpg"))
        #expect(try await live.ask("/info\(signed)").status == 200)
        #expect(try await live.ask("/info/_/plain/local:///china.jpg").status == 403)
        #expect(await !live.loggedRequests(2).contains { "\($0.metadata)".contains("3880GaJks") })
    }

    @Test(arguments: [
        ("/nothing:1/plain/local:///china.jpg", "404 invalid_option"),
        ("/xmp:1/plain/local:///china.jpg", "404 unsupported_option"),
        ("/blurhash:4:10/plain/local:///china.jpg", "404 invalid_option"),
        ("/blurhash:4:3:2/plain/local:///china.jpg", "404 invalid_option"),
        ("/palette:0/plain/local:///china.jpg", "404 invalid_option"),
        ("/palette:65/plain/local:///china.jpg", "404 invalid_option"),
        ("/dhash:yes/plain/local:///china.jpg", "404 invalid_option"),
        ("/s:2/plain/local:///china.jpg", "404 invalid_option"),
        ("/hash:md5/plain/local:///china.jpg", "404 invalid_option"),
        ("/plain/local:///no.jpg", "404 source_not_found"),
        ("/plain/local:///CREDITS.md", "422 source_format"), ("", "404 invalid_path"),
    ])
    func failuresHaveTheirStatusAndCode(path: String, outcome: String) async throws {
        let live = try await LiveServer.start()
        #expect(try await live.outcome("/info/_" + path) == outcome)
    }
}
