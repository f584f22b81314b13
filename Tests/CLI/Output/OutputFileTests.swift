import Foundation
import Halcyon
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

struct OutputNamesTests {
    @Test(arguments: [
        ("bird", "bird"), ("a b/c", "a-b-c"), ("../../etc/passwd", "etc-passwd"),
        (".hidden", "hidden"), ("-rf", "rf"), ("", "image"), ("...", "image"), ("翠鸟", "翠鸟"),
        ("a\u{0}b\nc", "a-b-c"), ("$(rm)", "rm"), ("x\u{1B}[1m", "x-1m"),
    ])
    func makesNamesSafe(wish: String, name: String) {
        #expect(OutputNames.safe(wish) == name)
    }

    @Test func staysFarBelowWhatFileSystemsAllow() {
        #expect(OutputNames.safe(String(repeating: "鸟", count: 500)).utf8.count <= 120)
    }

    @Test func givesNoNameTwice() {
        var names = OutputNames()
        let wishes = ["a", "A", "a", "a-2", "b", "a"]
        let given = wishes.map { names.next(for: $0) }
        #expect(given == ["a", "A-2", "a-3", "a-2-2", "b", "a-4"])
        #expect(Set(given.map { $0.lowercased() }).count == given.count)
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
