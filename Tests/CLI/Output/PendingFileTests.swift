import Foundation
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

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
