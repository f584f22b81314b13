import Foundation
import HalcyonTestKit
import Testing
import Vips

/// The targets of the fuzzers (Fuzzing/Sources/Fuzz, here by links) with the cases that are kept of them, without a
/// sanitizer; scripts/fuzz --cases runs the same under AddressSanitizer.
@Suite(.timeLimit(.minutes(10))) struct FuzzCaseTests {
    /// A file of Fuzzing/Cases, in the folder of its target.
    struct Case: Sendable, CustomTestStringConvertible {
        let target: FuzzTarget
        let file: URL

        var testDescription: String { "\(target.name)/\(file.lastPathComponent)" }
    }

    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent()  // FuzzCases
        .deletingLastPathComponent()  // Tests
        .deletingLastPathComponent().appendingPathComponent("Fuzzing/Cases")

    static let cases: [Case] = FuzzTarget.all.flatMap { target in
        files(in: folder.appendingPathComponent(target.name)).map {
            Case(target: target, file: $0)
        }
    }

    /// Empty where there is no such folder.
    private static func files(in folder: URL) -> [URL] {
        let files = try? FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        return (files ?? []).sorted { $0.path < $1.path }
    }

    @Test(arguments: cases) func aKeptCaseDoesNotEndTheProcess(_ kept: Case) throws {
        let data = try Data(contentsOf: kept.file)
        // Bytes may be refused; a target ends the process when something that must hold does not.
        try? kept.target.run(data)
        Vips.endJob()
    }

    @Test func everyFolderOfCasesBelongsToATarget() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(!names.isEmpty)
        #expect(Set(names).isSubset(of: FuzzTarget.all.map(\.name)))
    }

    /// Cases that are written by a script (scripts/worker-answer-cases) are of no use when nothing of them is read.
    @Test func casesThatMustBeReadAreRead() throws {
        let cases = Self.cases.filter { $0.file.lastPathComponent.hasPrefix("read-") }
        #expect(!cases.isEmpty)
        for kept in cases { try kept.target.run(Data(contentsOf: kept.file)) }
    }

    /// Seeds are valid files, so that a target that refuses all of them tests nothing.
    @Test(arguments: FuzzTarget.all.map(\.name))
    func aTargetReadsOneOfItsSeeds(_ name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let readable = try target.seeds().prefix(8).contains { seed in
            (try? target.run(seed)) != nil
        }
        Vips.endJob()
        #expect(readable)
    }
}
