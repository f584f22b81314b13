import Foundation
import Halcyon
import HalcyonSamples
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

@Suite(.timeLimit(.minutes(20)))
struct DemoProgramTests {
    @Test func drawsAContactSheetOfAllSamples() async throws {
        let program = try Program()
        let outcome = try await program.run("demo", "--output-directory", "out")
        #expect(outcome.exitCode == 0)
        let samples = try SamplePictures()
        for name in samples.names { #expect(outcome.output.contains(name)) }
        let count = samples.names.count
        #expect(
            outcome.output.contains(
                "\(count * 3) loads at once made \(count) requests; "
                    + "\(count * 2) from disk and memory made 0."))
        #expect(outcome.output.contains("not cached."))
        let sheet = program.folder.file("out/contact-sheet.png")
        #expect(outcome.lines.last == "contact sheet: \(sheet.path)")
        let image = try Image.decoding(Data(contentsOf: sheet))
        let layout = ContactSheetLayout(tileCounts: [count, DemoVariant.all.count], columns: 8)
        #expect(image.pixelSize == PixelSize(width: layout.width, height: layout.height))
        // Nothing else is left.
        let names = try FileManager.default.contentsOfDirectory(atPath: program.folder.url.path)
        #expect(names.filter { !$0.hasPrefix(".") } == ["out"])
    }

    @Test func everyVariantIsOfASampleAndHasAProcessor() throws {
        let names = try SamplePictures().names
        for variant in DemoVariant.all {
            #expect(names.contains(variant.sample))
            _ = try ImageProcessorSpec.parse(variant.spec)
            #expect(variant.spec.count <= ContactSheetLayout.charactersPerLine)
        }
    }
}
