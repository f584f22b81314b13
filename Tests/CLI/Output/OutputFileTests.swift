import Foundation
import Halcyon
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import HalcyonCLI

struct FileNameTests {
    @Test(arguments: [
        ("bird.png", "bird", "png"), ("a b.JPG", "a b", "JPG"), ("photo.v2", "photo.v2", ""),
        (".png", ".png", ""), ("a.b.webp", "a.b", "webp"), ("", "", ""), ("a.", "a.", ""),
    ])
    func theExtensionIsThatOfAnImage(name: String, stem: String, fileExtension: String) {
        let found = FileName(name.utf8)
        #expect(String(decoding: found.stem, as: UTF8.self) == stem)
        #expect(found.fileExtension == fileExtension)
    }

    @Test(arguments: [
        ("bird", "bird"), ("a b/c", "a b-c"), ("../../etc/passwd", "etc-passwd"),
        (".hidden", "hidden"), ("-rf", "rf"), ("", "image"), ("...", "image"), ("翠鸟", "翠鸟"),
        ("a\u{0}b\nc", "a-b-c"), ("🐦 émoji", "🐦 émoji"), ("x\u{1B}[1m", "x-[1m"),
    ])
    func makesNamesOfServersSafe(text: String, name: String) {
        #expect(String(decoding: FileName(safe: text).stem, as: UTF8.self) == name)
    }
}

struct OutputNamesTests {
    /// The paths for sources in a format each, `nil` for that of the source.
    private func paths(
        _ sources: [String], template: NameTemplate = .plain, format: ImageFormat? = nil,
        written: ImageFormat = .PNG
    ) -> [String] {
        let names = OutputNames(of: sources.map(ImageArgument.init), template, format: format)
        return sources.indices.map { String(escaping: names.path(for: $0, in: written)) }
    }

    @Test func givesNoNameTwice() {
        let sources = ["a.png", "A.png", "a.png", "a-2.png", "b.png", "a.png", "a.jpg"]
        #expect(
            paths(sources) == [
                "a.png", "A.png", "a-2.png", "a-2-2.png", "b.png", "a-3.png", "a-4.png",
            ])
    }

    @Test func aSourceKeepsItsNameInAFormatThatItsOwnDoesNotTell() {
        let sources = ["a.png", "a.jpg", "a.gif"].map { ImageArgument($0) }
        let names = OutputNames(of: sources, .plain, format: nil)
        for _ in 0..<2 {
            #expect(String(escaping: names.path(for: 1, in: .PNG)) == "a-2.png")
            #expect(String(escaping: names.path(for: 2, in: .PNG)) == "a-3.png")
        }
    }

    @Test func onlyTheExtensionFollowsTheFormat() {
        let sources = ["a b.PNG", "c.jpeg", ".d", "🐦 émoji.bmp"]
        #expect(paths(sources) == ["a b.PNG", "c.png", ".d.png", "🐦 émoji.png"])
        #expect(
            paths(sources, format: .WebP, written: .WebP)
                == ["a b.webp", "c.webp", ".d.webp", "🐦 émoji.webp"])
    }

    @Test func filesOfOneNameKeepTheirFolders() {
        let sources = ["x/one/a.png", "x/two/a.png", "./x/two/../a.png", "y/b.png", "y/b.png"]
        #expect(
            paths(sources) == ["one/a.png", "two/a.png", "a.png", "b.png", "b-2.png"])
        #expect(
            paths(["http://h/one/a.png", "http://h/two/a.png"]) == ["a.png", "a-2.png"])
    }

    @Test func aTemplateHasTheNameAndTheExtension() throws {
        let template = try NameTemplate("x {name}-400.{ext}")
        #expect(
            paths(["{ext}.png", "b.jpg", "{ext}.gif"], template: template)
                == ["x {ext}-400.png", "x b-400.png", "x {ext}-2-400.png"])
    }

    @Test func namesFitIntoWhatFileSystemsAllow() {
        let long = String(repeating: "鸟", count: 84)
        let found = paths(["\(long).gif", "\(long).gif"], format: .WebP, written: .WebP)
        #expect(found[0] == String(repeating: "鸟", count: 83) + ".webp")
        #expect(found[1] == String(repeating: "鸟", count: 82) + "-2.webp")
    }
}

struct ImageFormatNameTests {
    @Test func everyFormatIsNamedByItsExtension() {
        for format in ImageFormat.allCases where format != .unknown {
            #expect(ImageFormat(fileExtension: format.fileExtension) == format)
            #expect(ImageFormat(argument: format.rawValue.lowercased()) == format)
        }
        #expect(ImageFormat(argument: "unknown") == nil && ImageFormat(argument: "") == nil)
    }
}

struct PendingFileTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
    }

    @Test func replacesAFileAsAWhole() throws {
        let file = try folder.write(Data("former".utf8), to: "a")
        try PendingFile.write(Data("new".utf8), to: file.path)
        #expect(try Data(contentsOf: file) == Data("new".utf8))
        #expect(try names == ["a"])
    }

    @Test func writesThroughASymbolicLink() throws {
        let file = try folder.write(Data("former".utf8), to: "real")
        let link = folder.file("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        try PendingFile.write(Data("new".utf8), to: link.path)
        #expect(try Data(contentsOf: file) == Data("new".utf8))
        let type = try FileManager.default.attributesOfItem(atPath: link.path)[.type]
        #expect(type as? FileAttributeType == .typeSymbolicLink)
    }

    @Test func keepsThePermissionsOfAFile() throws {
        let file = try folder.write(Data("former".utf8), to: "a")
        try #require(chmod(file.path, 0o640) == 0)
        try PendingFile.write(Data("new".utf8), to: file.path)
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
        #expect(mode as? Int == 0o640)
    }

    @Test func leavesAFileThatIsNotToBeReplaced() throws {
        let file = try folder.write(Data("former".utf8), to: "a")
        let path = try #require(FilePath(file))
        let error = #expect(throws: POSIXError.self) {
            try PendingFile.write(Data("new".utf8), to: path, replacing: false)
        }
        #expect(error?.code == .EEXIST)
        #expect(try Data(contentsOf: file) == Data("former".utf8))
        let other = path.folder.appending([0xE9])
        try PendingFile.write(Data("new".utf8), to: other, replacing: false)
        #expect(try other.read() == Data("new".utf8))
        #expect(FolderListing(below: path.folder, includesLinks: false).files.count == 2)
    }

    @Test func doesNotReplaceADevice() throws {
        try PendingFile.write(Data("gone".utf8), to: "/dev/null")
        let type = try FileManager.default.attributesOfItem(atPath: "/dev/null")[.type]
        #expect(type as? FileAttributeType == .typeCharacterSpecial)
    }

    @Test func leavesNothingBehindWhenItFails() throws {
        try FileManager.default.createDirectory(
            at: folder.file("sub"), withIntermediateDirectories: true)
        let error = #expect(throws: POSIXError.self) {
            try PendingFile.write(Data(), to: folder.file("sub").path)
        }
        #expect(error?.code == .EISDIR)
        let missing = #expect(throws: POSIXError.self) {
            try PendingFile.write(Data(), to: folder.file("none/a").path)
        }
        #expect(missing?.code == .ENOENT)
        #expect(try names == ["sub"])
    }
}
