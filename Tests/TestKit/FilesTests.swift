import Foundation
import Testing

@testable import HalcyonTestKit

@Suite struct TemporaryDirectoryTests {
    @Test func goesWithItsLastReference() throws {
        var directory: TemporaryDirectory? = try TemporaryDirectory()
        let url = try #require(directory?.url)
        let file = try #require(try directory?.write(Data([1]), to: "a/b"))
        #expect(try Data(contentsOf: file) == Data([1]))
        directory = nil
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test func isUniqueAndCanBeRemovedTwice() throws {
        let first = try TemporaryDirectory()
        let second = try TemporaryDirectory()
        #expect(first.url != second.url)
        try first.remove()
        try first.remove()
        #expect(!FileManager.default.fileExists(atPath: first.url.path))
        #expect(FileManager.default.fileExists(atPath: second.url.path))
    }
}

@Suite struct CorpusTests {
    @Test func liesWhereTheEnvironmentSaysOrBesideThePackage() throws {
        let place = try TemporaryDirectory()
        let package = place.file("main")
        #expect(Corpus.locate(environment: [:], package: package) == nil)
        try place.write(Data(), to: "shared/corpus/a.png")
        #expect(
            Corpus.locate(environment: [:], package: package)?.path
                == place.file("shared/corpus").path)
        #expect(
            Corpus.locate(environment: ["HALCYON_CORPUS": place.url.path], package: package)?.path
                == place.url.path)
        #expect(
            Corpus.locate(environment: ["HALCYON_CORPUS": "/absent"], package: package) == nil)
    }

    @Test func knowsThePackage() {
        let manifest = Corpus.packageDirectory.appendingPathComponent("Package.swift")
        #expect(FileManager.default.fileExists(atPath: manifest.path))
    }
}
