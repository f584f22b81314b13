import Foundation
import Halcyon
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import Testing

/// Options about metadata, colours and depth, and sources as they are.
@Suite struct OptionTests {
    /// The sizes that the turns of EXIF give, and the colour on the left or at the top.
    @Test(arguments: [
        (1, "", 32, 16, "R"), (3, "", 32, 16, "B"), (6, "", 16, 32, "R"), (8, "", 16, 32, "B"),
        (6, "/ar:0", 32, 16, "R"), (8, "/ar:0", 32, 16, "R"), (3, "/ar:0", 32, 16, "R"),
        (5, "/ar:0", 32, 16, "R"), (2, "/ar:0", 32, 16, "R"), (6, "/ar:0/rot:90", 16, 32, "R"),
        (6, "/ar:0/c:8:16:ea", 8, 16, "B"), (7, "/auto_rotate:0/w:16", 16, 8, "R"),
    ])
    func autoRotateTurnsAsEXIFSays(
        orientation: Int, options: String, width: Int, height: Int, first: String
    ) async throws {
        let file = try TaggedJPEG.data(exif: TaggedJPEG.exif(orientation: orientation))
        let live = try await LiveServer.start(files: ["a.jpg": file])
        let answer = try await live.ask("/_\(options)/plain/local:///a.jpg@png")
        let bitmap = try Image.decoding(answer.body).bitmap()
        #expect(bitmap.size == PixelSize(width: width, height: height))
        #expect((bitmap.data[0] > 128 ? "R" : "B") == first)
    }

    @Test func autoRotateMayBeOffUnlessTheURLSaysOtherwise() async throws {
        let file = try TaggedJPEG.data(exif: TaggedJPEG.exif(orientation: 6))
        let live = try await LiveServer.start(files: ["a.jpg": file]) {
            $0.processing.autoRotates = false
        }
        let stored = try await live.ask("/_/plain/local:///a.jpg")
        let turned = try await live.ask("/_/ar:1/plain/local:///a.jpg")
        #expect(try stored.pixelSize == PixelSize(width: 32, height: 16))
        #expect(try turned.pixelSize == PixelSize(width: 16, height: 32))
    }

    private let packet = """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF \
        xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" \
        xmlns:d="http://purl.org/dc/elements/1.1/" xmlns:exif="http://ns.adobe.com/exif/1.0/" \
        xmlns:xmpRights="http://ns.adobe.com/xap/1.0/rights/" xmpRights:Marked="True" \
        exif:GPSLatitude="52,30N"><d:rights><rdf:Alt><rdf:li xml:lang="x-default">Mine</rdf:li>\
        </rdf:Alt></d:rights><d:subject>secret</d:subject></rdf:Description></rdf:RDF></x:xmpmeta>
        """

    @Test func keepCopyrightKeepsWhatIsSaidOfRightsAndNothingElse() async throws {
        let exif = TaggedJPEG.exif(texts: [
            (0x010F, "Camera"), (0x013B, "Ada"), (0x8298, "Copyright Ada"),
        ])
        let iptc = TaggedJPEG.iptc([(2, 5, "Title"), (2, 80, "Ada"), (2, 116, "Copyright Ada")])
        let file = try TaggedJPEG.data(exif: exif, xmp: packet, iptc: iptc)
        let live = try await LiveServer.start(files: ["a.jpg": file])
        let kept = try await live.ask("/_/w:16/plain/local:///a.jpg")
        #expect(kept.status == 200)
        let metadata = try ImageMetadata(reading: kept.body)
        let blocks = [metadata.exif, metadata.xmp, metadata.iptc]
        let words = [
            (["Copyright Ada"], ["Camera"]), (["Mine", "xmpRights:Marked"], ["GPS", "secret"]),
            (["Copyright Ada"], ["Title"]),
        ]
        for (block, (kept, gone)) in zip(blocks, words) {
            let text = String(decoding: block ?? Data(), as: UTF8.self)
            #expect(kept.allSatisfy { text.contains($0) } && !gone.contains { text.contains($0) })
        }
        let none = try await live.ask("/_/w:16/kcr:0/plain/local:///a.jpg")
        #expect(try ImageMetadata(reading: none.body).rights == nil)
        let all = try await live.ask("/_/w:16/sm:0/plain/local:///a.jpg")
        #expect(String(decoding: all.body, as: UTF8.self).contains("Camera"))
        let webp = try await live.ask("/_/w:16/plain/local:///a.jpg@webp")
        #expect(try ImageMetadata(reading: webp.body).rights?.xmp != nil)
    }

    @Test func picturesWithoutNotesOfRightsGetNone() async throws {
        let live = try await LiveServer.start(files: [
            "a.jpg": try TaggedJPEG.data(xmp: "<!DOCTYPE a><a/>"),
            "b.jpg": try TaggedJPEG.data(
                exif: TaggedJPEG.exif(texts: [(0x010F, "Camera")]), iptc: Data([0x1C, 2, 80, 255])),
        ])
        for name in ["a.jpg", "b.jpg"] {
            let answer = try await live.ask("/_/w:16/plain/local:///\(name)")
            #expect(answer.status == 200)
            #expect(try ImageMetadata(reading: answer.body) == ImageMetadata())
        }
    }

    @Test(arguments: ["jpg", "png", "webp"])
    func stripColorProfileConvertsAndOtherwiseTheProfileStays(format: String) async throws {
        let file = try TaggedJPEG.data(left: .red, right: .red, profile: SwappedProfile.data)
        let live = try await LiveServer.start(files: ["a.jpg": file])
        let converted = try await live.ask("/_/w:16/q:100/plain/local:///a.jpg@\(format)")
        let kept = try await live.ask("/_/w:16/q:100/scp:0/plain/local:///a.jpg@\(format)")
        #expect(Image.takingProfile(from: converted.body) == nil)
        let taken = try #require(Image.takingProfile(from: kept.body))
        #expect(taken.profile == SwappedProfile.data)
        // Both show the same colour, and only one of them stores the samples of the source.
        let shown = try [converted.body, kept.body].map {
            try Image.decoding($0).bitmap().data.prefix(3).map { Int($0) }
        }
        let stored = try Image.decoding(taken.file).bitmap().data.prefix(3).map { Int($0) }
        #expect(zip(shown[0], shown[1]).allSatisfy { abs($0 - $1) <= 6 }, "\(shown)")
        #expect(stored[0] > 240 && stored[1] < 15, "\(stored)")
        #expect(shown[0][1] > 200 && shown[0][0] < 60, "\(shown)")
        let gif = try await live.ask("/_/w:16/scp:0/plain/local:///a.jpg@gif")
        let colour = try Image.decoding(gif.body).bitmap().data.prefix(3).map { Int($0) }
        #expect(colour[1] > 200, "\(colour)")
    }

    @Test func preserveHDRKeepsSixteenBits() async throws {
        let pixels = Data((0..<(8 * 8 * 3)).flatMap { [UInt8(truncatingIfNeeded: $0), 77] })
        let size = PixelSize(width: 8, height: 8)
        let deep = try #require(Bitmap(pixels: pixels, size: size, channels: 3, depth: .sixteen))
        let png = try Image(bitmap: deep).encoded(as: .PNG, options: ImageEncodingOptions())
        let live = try await LiveServer.start(files: ["a.png": png])
        let usual = try await live.ask("/_/plain/local:///a.png")
        let kept = try await live.ask("/_/ph:1/plain/local:///a.png")
        #expect(try Image.decoding(usual.body).depth == .eight)
        #expect(try Image.decoding(kept.body).bitmap().data == pixels)
    }

    @Test func rawSourcesGoOutAsTheyAreWhereThatIsAllowed() async throws {
        let file = try TaggedJPEG.data(exif: TaggedJPEG.exif(texts: [(0x010F, "Camera")]))
        let files = ["a.jpg": file, "page.jpg": Data("<html>".utf8)]
        let strict = try await LiveServer.start(files: files)
        let target = "/_/raw:1/w:4/plain/local:///a.jpg@webp"
        #expect(try await strict.outcome(target) == "403 option_forbidden")
        let live = try await LiveServer.start(files: files) {
            $0.processing.allowsRaw = true
            $0.limits.maxSourceBytes = 100_000
        }
        let answer = try await live.ask(target)
        #expect(answer.body == file)
        answer.expect([
            "Content-Type": "image/jpeg", "X-Content-Type-Options": "nosniff",
            "Content-Disposition": "inline; filename=\"a.jpg\"",
        ])
        let tag = try #require(answer["ETag"])
        #expect(try await live.ask(target, fields: ["If-None-Match": tag]).status == 304)
        #expect(try await live.ask("/_/raw:1/plain/local:///page.jpg").status == 422)
    }

    @Test func jpegIsWrittenFromCoarseToFineWhenTheSettingsSaySo() async throws {
        // The frame headers of progressive files, and of others.
        for (isProgressive, code) in [(true, UInt8(0xC2)), (false, 0xC0)] {
            let live = try await LiveServer.start(files: ["a.jpg": try TaggedJPEG.data()]) {
                $0.processing.writesProgressiveJPEG = isProgressive
            }
            let answer = try await live.ask("/_/w:16/plain/local:///a.jpg")
            #expect(answer.body.firstRange(of: Data([0xFF, code])) != nil)
        }
    }

    @Test func moreEffortMakesOtherFilesOfTheSamePicture() async throws {
        let least = try await LiveServer.start { $0.processing.effort = ["webp": 0] }
        let most = try await LiveServer.start { $0.processing.effort = ["webp": 6] }
        let target = "/_/w:200/plain/local:///china.jpg@webp"
        let (large, small) = (try await least.ask(target), try await most.ask(target))
        #expect(large.body.count > small.body.count)
    }
}
