import Foundation
import Halcyon
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import HalcyonCLI

struct ImageArgumentTests {
    @Test func aURLIsItsOwnKey() throws {
        let argument = ImageArgument("https://example.org/birds/a%20b.jpg?size=2#top")
        let source = try argument.source.get()
        #expect(source.cacheKey == "https://example.org/birds/a%20b.jpg?size=2#top")
        #expect(argument.ownName == "a b")
        guard case .network = source else {
            Issue.record("not a network source")
            return
        }
    }

    @Test(arguments: [
        ("https://example.org", "example.org"), ("https://example.org/", "example.org"),
        ("https://example.org/photo.v2", "photo.v2"), ("https://example.org/.png", ".png"),
        ("/tmp/photo.JPG", "photo"), ("photo", "photo"), ("file:///tmp/a.b.webp", "a.b"),
    ])
    func isCalledLikeItsLastComponentWithoutTheExtension(text: String, name: String) {
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
    }

    @Test func aChangedFileHasAnotherKey() throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write(Data("one".utf8), to: "a.png")
        let first = try ImageArgument(file.path).source.get().cacheKey
        #expect(try ImageArgument(file.absoluteString).source.get().cacheKey == first)
        try folder.write(Data("longer".utf8), to: "a.png")
        let second = try ImageArgument(file.path).source.get().cacheKey
        #expect(first != second)
        #expect(first.contains(file.path))
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
                #expect(argument.ownName == (byte == 0xE8 ? "caf\\xE8" : "caf\\xE9"))
                let source = try argument.source.get()
                guard case .provider(let provider) = source else {
                    Issue.record("not a provider")
                    return
                }
                #expect(try await provider.data() == Data("\(byte)".utf8))
                keys.insert(provider.cacheKey)
            }
        }
        #expect(keys.count == 2)
    }

    @Test(arguments: ["ftp://example.org/a.png", "http://", "https:///a.png", "", "data:nothing"])
    func whatCannotBeLoadedIsCode1002(text: String) {
        guard case .failure(let failure) = ImageArgument(text).source else {
            Issue.record("\(text) is a source")
            return
        }
        #expect(failure.code == 1002)
    }

    @Test func aLongDataURIIsNotShownWhole() {
        let argument = ImageArgument("data:," + String(repeating: "x", count: 1000))
        #expect(argument.label.count < 60)
        #expect(argument.text.count > 1000)
    }
}
