import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// The guides, and the documentation of types, print code that compiles, and what it does is what they
/// say.
@Suite struct GuideTests {
    @Test func everyPieceOfSwiftInADocumentIsCompiled() throws {
        let regions = try GuideText.regions()
        let documents = try GuideText.documents()
        #expect(documents.count > 5)
        for (name, text) in documents {
            for block in GuideText.swiftBlocks(of: text) {
                #expect(
                    regions.contains { $0.key.hasPrefix("\(name)/") && $0.value == block },
                    "\(name) prints code that is not in GuideSnippetTests:\n\(block)")
            }
        }
    }

    @Test func everyCompiledPieceIsPrinted() throws {
        let documents = try GuideText.documents()
        for (name, code) in try GuideText.regions() {
            let document = String(name.prefix { $0 != "/" })
            #expect(
                GuideText.swiftBlocks(of: documents[document] ?? "").contains(code),
                "\(name) is not printed in \(document)")
        }
    }

    @Test func theReadmeLinksToEveryGuide() throws {
        let readme = try String(
            contentsOf: GuideText.root.appendingPathComponent("README.md"), encoding: .utf8)
        let guides = try GuideText.guidePaths()
        #expect(guides.count > 5)
        for guide in guides {
            let text = try String(
                contentsOf: GuideText.root.appendingPathComponent(guide), encoding: .utf8)
            #expect(
                GuideText.swiftBlocks(of: text).isEmpty || readme.contains("(\(guide))"))
        }
    }

    @Test func theArticlesNameSuitesThatThereAre() throws {
        let tests = try GuideText.code(in: "Tests").map(\.code)
        let page = try #require(try GuideText.guides()["articles"])
        let suites = page.matches(of: /`(\w+Tests)`/).map(\.1)
        #expect(suites.count > 15)
        for suite in Set(suites) {
            #expect(tests.contains { $0.contains("struct \(suite) {") }, "\(suite)")
        }
    }

    /// These are the types that people meet first.
    @Test(arguments: [
        "KingfisherManager", "ImageCache", "ImageDownloader", "ImagePrefetcher", "Source",
        "Image", "ImageProcessor", "CacheSerializer",
    ])
    func theDocumentationOfATypeHasAnExample(file: String) throws {
        let text = try #require(try GuideText.comments()[file])
        #expect(!GuideText.swiftBlocks(of: text).isEmpty)
    }
}

/// Reads the guides, and the code that belongs to them.
private enum GuideText {
    /// The folder of the package.
    static let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
        url.deletingLastPathComponent()
    }

    /// Whatever prints code, by its name without extension.
    static func documents() throws -> [String: String] {
        try guides().merging(comments()) { $0 + "\n" + $1 }
    }

    /// The documentation comments that print code, by the names of their files.
    static func comments() throws -> [String: String] {
        var comments: [String: String] = [:]
        for folder in ["Sources", "Tests/Support"] {
            for (name, code) in try self.code(in: folder) where code.contains("```swift") {
                comments[name, default: ""] += Self.comments(of: code)
            }
        }
        return comments
    }

    /// The Swift below a folder, by the names of its files.
    static func code(in folder: String) throws -> [(name: String, code: String)] {
        let folder = root.appendingPathComponent(folder, isDirectory: true)
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path).compactMap { path in
            let file = folder.appendingPathComponent(path)
            guard file.pathExtension == "swift" else { return nil }
            return (
                file.deletingPathExtension().lastPathComponent,
                try String(contentsOf: file, encoding: .utf8)
            )
        }
    }

    /// The documentation comments of a source file, without what marks them.
    static func comments(of code: String) -> String {
        code.components(separatedBy: "\n").compactMap { line in
            let text = line.drop { $0 == " " }
            return text.hasPrefix("///") ? text.dropFirst(text.hasPrefix("/// ") ? 4 : 3) : nil
        }.joined(separator: "\n")
    }

    /// The paths of the guides, from the folder of the package.
    static func guidePaths() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(
            atPath: root.appendingPathComponent("docs", isDirectory: true).path
        ).filter { $0.hasSuffix(".md") }.map { "docs/\($0)" }
    }

    /// The guides and the README by their names without extension; pages of one name are joined.
    static func guides() throws -> [String: String] {
        try Dictionary(
            (guidePaths() + ["README.md"]).map {
                let file = root.appendingPathComponent($0)
                return (
                    file.deletingPathExtension().lastPathComponent,
                    try String(contentsOf: file, encoding: .utf8)
                )
            }, uniquingKeysWith: { $0 + "\n" + $1 })
    }

    /// Where the code is: that of widgets is among the tests that have a display.
    private static let files = [
        "Tests/Pipeline/Guides/GuideSnippetTests.swift",
        "Tests/Pipeline/Guides/HTTPCachingSnippetTests.swift",
        "Tests/Pipeline/Guides/MovingSnippetTests.swift",
        "Tests/Pipeline/Guides/CommentSnippetTests.swift",
        "Tests/Pipeline/Guides/TestingSnippets.swift",
        "Tests/Pipeline/Testing/TestEnvironmentTests.swift",
        "Tests/GTK/Guides/GTKGuideSnippetTests.swift",
        "Tests/ServerURLs/PlanSnippets.swift",
        "Tests/Cluster/SharedCacheSnippets.swift",
        "Tests/Server/ServerSnippets.swift",
        "Tests/Telemetry/ObservabilitySnippets.swift",
        "Tests/Server/EmbeddingTests.swift",
        "Examples/Uploads.swift",
    ]

    /// The marked pieces of the files by their names, of which one piece may have several.
    static func regions() throws -> [String: String] {
        var regions: [String: String] = [:]
        for file in files {
            let code = try String(contentsOf: root.appendingPathComponent(file), encoding: .utf8)
            addRegions(of: code, to: &regions)
        }
        return regions
    }

    private static func addRegions(of code: String, to regions: inout [String: String]) {
        var current: (names: String, lines: [String])?
        for line in code.components(separatedBy: "\n") {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text.hasPrefix("// guide: ") {
                #expect(current == nil, "\(text) begins inside another piece")
                current = (String(text.dropFirst(10)), [])
            } else if text == "// end", let (names, lines) = current {
                for name in names.components(separatedBy: ", ") {
                    #expect(regions.updateValue(trimmed(lines), forKey: name) == nil)
                }
                current = nil
            } else {
                current?.lines.append(line)
            }
        }
    }

    /// What is printed as Swift in a document, without the imports at the top of it.
    static func swiftBlocks(of text: String) -> [String] {
        var blocks: [String] = []
        var current: [String]?
        for line in text.components(separatedBy: "\n") {
            if let lines = current {
                if line == "```" {
                    let code = lines.drop { $0.hasPrefix("import ") || $0.isEmpty }
                    blocks.append(trimmed(Array(code)))
                    current = nil
                } else {
                    current = lines + [line]
                }
            } else if line == "```swift" {
                current = []
            }
        }
        return blocks
    }

    /// The lines without the indentation they have in common.
    static func trimmed(_ lines: [String]) -> String {
        let indentation =
            lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return lines.map { String($0.dropFirst(indentation)) }.joined(separator: "\n")
    }
}
