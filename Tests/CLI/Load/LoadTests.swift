import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon
@testable import HalcyonCLI

struct LoadRowTests {
    private let image = LoadRow.Image(
        cacheKey: "key", cacheType: .disk, format: .JPEG, width: 640, height: 427, frames: 1,
        bytes: 196_653, milliseconds: 12.345, output: nil)

    @Test func tellsAProgramEverythingInOrder() {
        let row = LoadRow(source: ImageArgument("a.jpg"), outcome: .loaded(image))
        #expect(
            row.json.jsonText
                == #"{"source":"a.jpg","cacheKey":"key","cacheType":"disk","format":"JPEG","#
                + #""width":640,"height":427,"frames":1,"bytes":196653,"milliseconds":12.35,"#
                + #""output":null}"#)
    }

    @Test func tellsAProgramOfAFailure() {
        let failure = LoadFailure(code: 2002, message: "no \"bird\"")
        let row = LoadRow(source: ImageArgument("a.jpg"), outcome: .failed(failure))
        #expect(
            row.json.jsonText
                == #"{"source":"a.jpg","error":{"code":2002,"message":"no \"bird\""}}"#)
        #expect(row.isFailure)
    }

    @Test func aFileThatEndedItsDecoderIsNamed() {
        let cause = ImageCodingError.decoderStopped(.SVG, reason: "SIGABRT")
        let item = ImageProcessItem.data(Data("<svg/>".utf8))
        let processor = DefaultImageProcessor.default
        ProcessingFailures.shared.note(cause, of: item, by: processor)
        let error = KingfisherError.processorError(
            reason: .processingFailed(processor: processor, item: item))
        #expect(error.errorDescription == "The decoder of SVG stopped (SIGABRT).")
        let failure = LoadFailure(error, at: "drawings/a.svg")
        #expect(failure.message == "The decoder of SVG stopped (SIGABRT) at drawings/a.svg.")
        #expect(failure.code == 4001)
        let argument = ImageArgument("https://example.org/a.svg?token=secret")
        #expect(
            LoadFailure(cause, at: argument.label).message.hasSuffix(
                "(SIGABRT) at https://example.org/a.svg?token=***."))
        let other = ImageCodingError.corrupt(.SVG, reason: "cut short")
        #expect(LoadFailure(other, at: "a.svg") == LoadFailure(other))
    }

    @Test func tellsPeopleOnOneLine() {
        var image = image
        image.output = FilePath(argument: "out/a.png")
        let row = LoadRow(source: ImageArgument("a.jpg"), outcome: .loaded(image))
        #expect(
            row.line(style: .plain)
                == "✓ a.jpg  640×427 JPEG, 196.7 kB, from disk in 12.3 ms → out/a.png")
    }

    @Test func aMessageCannotMoveTheCursor() {
        let failure = LoadFailure(code: 1, message: "a\u{1B}[2J")
        let row = LoadRow(source: ImageArgument("b\u{7}"), outcome: .failed(failure))
        #expect(row.line(style: .plain) == "✗ b\u{FFFD}  a\u{FFFD}[2J (1)")
    }

    private var skipped: LoadRow {
        get throws {
            let path = try #require(FilePath(argument: "out/a.png"))
            return LoadRow(source: ImageArgument("a.jpg"), outcome: .skipped(path))
        }
    }

    @Test func aSkippedSourceIsToldWithTheFileThatExists() throws {
        let row = try skipped
        #expect(
            row.json.jsonText == #"{"source":"a.jpg","status":"skipped","output":"out/a.png"}"#)
        #expect(row.line(style: .plain) == "– a.jpg  out/a.png exists")
        #expect(!row.isFailure)
    }

    @Test func sumsUp() throws {
        var tally = LoadTally()
        tally.count(LoadRow(source: ImageArgument("a"), outcome: .loaded(image)))
        tally.count(
            LoadRow(
                source: ImageArgument("b"), outcome: .failed(LoadFailure(code: 1, message: ""))))
        #expect(tally.count == 2)
        #expect(
            tally.summary(after: .milliseconds(250), style: .plain)
                == "1 image (1 from disk), 1 failed, 196.7 kB in 250 ms")
        tally.count(try skipped)
        #expect(
            tally.summary(after: .milliseconds(250), style: .plain)
                == "1 image (1 from disk), 1 skipped, 1 failed, 196.7 kB in 250 ms")
    }
}

/// What the program asks of the manager.
@Suite struct LoadOptionsTests {
    private func options(
        _ sources: String..., keepsMetadata: Bool = false
    ) -> KingfisherParsedOptionsInfo {
        KingfisherParsedOptionsInfo(
            LoadRequest.options(
                of: sources.map(ImageArgument.init), keepsMetadata: keepsMetadata))
    }

    private func expires(_ options: KingfisherParsedOptionsInfo) -> Bool {
        if case .expired = options.memoryCacheExpiration { true } else { false }
    }

    @Test func picturesThatDoNotComeAgainAreNotKeptInMemory() {
        #expect(expires(options("a.png", "b.png")) && !expires(options("a.png", "b.png", "a.png")))
    }

    @Test func thePositionIsKeptWithTheMetadataOnly() {
        #expect(!options("a.png").keepPositionInOriginal)
        #expect(options("a.png", keepsMetadata: true).keepPositionInOriginal)
    }
}

extension ImageArgument {
    /// The provider of the image; `nil` for a URL.
    var provider: (any ImageDataProvider)? {
        get throws { if case .provider(let provider) = try source.get() { provider } else { nil } }
    }

    /// The name of its file, with its extension.
    var ownName: String {
        let end = name.fileExtension.isEmpty ? "" : ".\(name.fileExtension)"
        return String(escaping: name.stem) + end
    }
}

struct ImageArgumentTests {
    @Test func aURLIsItsOwnKey() throws {
        let argument = ImageArgument("https://example.org/birds/a%20b.jpg?size=2#top")
        let key = try argument.source.get().cacheKey
        #expect(key == "https://example.org/birds/a%20b.jpg?size=2#top")
        #expect(try argument.ownName == "a b.jpg" && argument.provider == nil)
    }

    @Test(arguments: [
        ("example.org/x.jpg", "https://example.org/x.jpg"),
        ("www.Example.org:8080/?token=abc", "https://www.Example.org:8080/?token=***"),
        ("https://example.org/x.jpg", nil), ("photo.jpg/x.jpg", nil), ("none/x.jpg", nil),
        ("./example.org/x.jpg", nil), ("photo.jpg", nil), ("data:,a", nil),
    ])
    func aFileThatIsCalledLikeAURLMayBeMeantAsOne(text: String, url: String?) {
        #expect(ImageArgument(text).meantURL == url)
    }

    @Test(arguments: [
        ("https://example.org", "example.org"), ("https://example.org/", "example.org"),
        ("https://example.org/photo.v2", "photo.v2"), ("https://example.org/.png", "png"),
        ("https://example.org/b%20c.png?d=e", "b c.png"), ("file:///tmp/a.b.webp", "a.b.webp"),
        ("/tmp/photo.JPG", "photo.JPG"), ("photo", "photo"), (".hidden.png", ".hidden.png"),
    ])
    func isCalledLikeItsLastComponent(text: String, name: String) {
        #expect(ImageArgument(text).ownName == name)
    }

    @Test func theSameDataHasTheSameShortKeyHoweverItIsWritten() throws {
        let first = try ImageArgument("data:;base64,aGVsbG8=").source.get()
        let second = try ImageArgument("data:text/plain,hello").source.get()
        // SHA-256 of "hello".
        #expect(
            first.cacheKey
                == "data:sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
        #expect(second.cacheKey == first.cacheKey)
        // A fragment is no data.
        let third = try ImageArgument("data:;base64,aGVsbG8=#x").source.get()
        #expect(third.cacheKey == first.cacheKey)
    }

    @Test func aChangedFileHasAnotherKey() throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write(Data("one".utf8), to: "a.png")
        let first = try ImageArgument(file.path).source.get().cacheKey
        #expect(try ImageArgument(file.absoluteString).source.get().cacheKey == first)
        try folder.write(Data("longer".utf8), to: "a.png")
        let second = try ImageArgument(file.path).source.get().cacheKey
        #expect(first != second && first.contains(file.path))
    }

    @Test func aNameThatIsNoTextIsAFileAndTwoOfThemAreTwo() async throws {
        let folder = try TemporaryDirectory()
        var keys: Set<String> = []
        for byte in [0xE8, 0xE9] as [UInt8] {
            let bytes = Array("\(folder.url.path)/caf".utf8) + [byte] + Array(".png".utf8)
            let path = try #require(FilePath(bytes: bytes))
            let file = try #require(path.withCString { fopen($0, "w") })
            fputs("\(byte)", file)
            fclose(file)
            let escape = byte == 0xE8 ? "%E8" : "%E9"
            for text in [
                String(escaping: bytes), String(escaping: Array("file://".utf8) + bytes),
                "file://\(folder.url.path)/caf\(escape).png",
            ] {
                let argument = ImageArgument(text)
                #expect(argument.text == "file://\(folder.url.path)/caf\(escape).png")
                #expect(argument.name.stem == Array("caf".utf8) + [byte])
                let provider = try #require(try argument.provider)
                #expect(try await provider.data() == Data("\(byte)".utf8))
                keys.insert(provider.cacheKey)
            }
        }
        #expect(keys.count == 2)
    }

    @Test(arguments: ["ftp://example.org/a.png", "http://", "https:///a.png", "", "data:nothing"])
    func whatCannotBeLoadedIsCode1002(text: String) {
        let failure = #expect(throws: LoadFailure.self) { try ImageArgument(text).source.get() }
        #expect(failure?.code == 1002)
    }

    @Test func aLongDataURIIsNotShownWhole() {
        let argument = ImageArgument("data:," + String(repeating: "x", count: 1000))
        #expect(argument.label.count < 60 && argument.text.count > 1000)
    }
}
