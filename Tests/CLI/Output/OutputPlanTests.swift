import Halcyon
import Testing

@testable import HalcyonCLI

struct OutputPlanTests {
    private let writable: [ImageFormat] = [.PNG, .JPEG, .WebP]

    private func plan(
        _ destination: OutputPlan.Destination, format: ImageFormat? = nil
    ) -> OutputPlan {
        OutputPlan(destination: destination, format: format, quality: nil, keepsMetadata: false)
    }

    @Test func theFormatAskedForWins() {
        let target = plan(.file("a.png"), format: .WebP)
            .target(for: 0, source: .JPEG, writable: writable)
        #expect(target == .init(path: "a.png", format: .WebP))
    }

    @Test func thenTheNameDecides() {
        let target = plan(.file("a.JPEG")).target(for: 0, source: .PNG, writable: writable)
        #expect(target?.format == .JPEG)
    }

    @Test func thenTheSourceOrPNG() {
        let plan = plan(.file("a"))
        #expect(plan.target(for: 0, source: .JPEG, writable: writable)?.format == .JPEG)
        #expect(plan.target(for: 0, source: .SVG, writable: writable)?.format == .PNG)
    }

    @Test func aFolderGivesEachSourceItsNameAndExtension() {
        let plan = plan(.directory("out/", names: ["a", "b"]))
        #expect(plan.target(for: 0, source: .JPEG, writable: writable)?.path == "out/a.jpg")
        #expect(plan.target(for: 1, source: .BMP, writable: writable)?.path == "out/b.png")
    }

    @Test func nowhereIsNoTarget() {
        #expect(OutputPlan.nowhere.target(for: 0, source: .PNG, writable: writable) == nil)
    }

    @Test func everyFormatIsNamedByItsExtension() {
        for format in ImageFormat.allCases where format != .unknown {
            #expect(ImageFormat(fileExtension: format.fileExtension) == format)
            #expect(ImageFormat(argument: format.rawValue.lowercased()) == format)
        }
        #expect(ImageFormat(argument: "unknown") == nil)
        #expect(ImageFormat(argument: "") == nil)
    }
}
