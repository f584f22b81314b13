import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@Suite struct FilePathTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// The folder's path with `name` behind it.
    private func path(_ name: [UInt8]) throws -> FilePath {
        try #require(FilePath(bytes: folder.url.path.utf8)).appending(name)
    }

    private func write(_ text: String, to path: FilePath) throws {
        let file = try #require(path.withCString { fopen($0, "w") })
        fputs(text, file)
        fclose(file)
    }

    private static let latin1 = Array("caf".utf8) + [0xE9] + Array(".png".utf8)

    @Test(arguments: [
        Array("a b%?#;é翠.png".utf8), latin1, [0xFF, 0xFE], [0x80], [0xC3], Array("%E9".utf8),
        Array("\u{10FFE9}\u{10FF80}".utf8), [0xE9] + Array("\u{10FFE9}".utf8), [0xED, 0xA0, 0x80],
    ])
    func everyNameSurvivesAsURLAndAsText(name: [UInt8]) throws {
        let path = try path(name)
        try write("content", to: path)
        #expect(FilePath(path.url) == path)
        #expect(FilePath(argument: String(escaping: path.bytes)) == path)
        #expect(try path.read() == Data("content".utf8) && path.read(atMost: 3) == Data("con".utf8))
        #expect(String(escaping: name).unescapedBytes == name)
        let listing = FolderListing(below: try #require(FilePath(folder.url)), includesLinks: false)
        #expect(listing.files.map(\.bytes.count) == [path.bytes.count] && listing.failures.isEmpty)
    }

    @Test func aTextOfUTF8StaysItself() {
        #expect(String(escaping: Array("é翠 a".utf8)) == "é翠 a")
        #expect(!"é翠 a".isEscaped)
    }

    @Test func bytesThatAreNoTextAreShown() throws {
        let path = try path(Self.latin1)
        #expect(path.text == nil && path.name == "caf\\xE9.png" && path.fileExtension == "png")
        #expect(path.url.absoluteString.hasSuffix("/caf%E9.png"))
    }

    @Test func whatIsNoPathIsNone() {
        #expect(FilePath(bytes: []) == nil && FilePath(bytes: [0x61, 0]) == nil)
        #expect(FilePath(URL(string: "https://example.com/a")!) == nil)
        #expect(FilePath(URL(string: "file:///a%00b")!) == nil)
    }

    @Test func nothingThatCannotBeReadEndsAListing() throws {
        let root = try #require(FilePath(folder.url))
        for name in ["b.png", ".hidden", "in/a.png", "locked/c.png"] {
            try folder.write(Data("x".utf8), to: name)
        }
        try write("x", to: path(Self.latin1))
        for (link, target) in [("dangling", "nowhere"), ("link.png", "b.png"), ("loop", ".")] {
            symlink(target, folder.file(link).path)
        }
        mkfifo(folder.file("pipe").path, 0o600)
        chmod(folder.file("locked").path, 0)
        defer { chmod(folder.file("locked").path, 0o700) }
        let isRoot = geteuid() == 0
        let listing = FolderListing(below: root, includesLinks: false)
        let names = Set(listing.files.map(\.name))
        #expect(names == Set(["b.png", "caf\\xE9.png", "a.png"] + (isRoot ? ["c.png"] : [])))
        #expect(
            Set(listing.failures.map(\.path.name)) == Set(["dangling"] + (isRoot ? [] : ["locked"]))
        )
        #expect(listing.failures.allSatisfy { $0.description.contains("cannot be read: ") })
        let linked = FolderListing(below: root, includesLinks: true)
        #expect(Set(linked.files.map(\.name)) == names.union(["link.png"]))
    }

    @Test func aMissingFileIsNamed() throws {
        let missing = try path(Self.latin1)
        let failure = #expect(throws: FilePath.Failure.self) { try missing.read() }
        #expect(
            failure?.description.hasSuffix("caf\\xE9.png cannot be read: No such file or directory")
                == true)
    }

    @Test func aDeviceIsReadOnlyOnRequest() throws {
        let device = try #require(FilePath(argument: "/dev/null"))
        let failure = #expect(throws: FilePath.Failure.self) { try device.read() }
        #expect(failure?.description == "/dev/null is a device, not a file.")
        #expect(try device.read(includingStreams: true).isEmpty)
    }
}
