import Halcyon
import Testing

@testable import HalcyonCLI

struct ImageFormatNameTests {
    @Test func everyFormatIsNamedByItsExtension() {
        for format in ImageFormat.allCases where format != .unknown {
            #expect(ImageFormat(fileExtension: format.fileExtension) == format)
            #expect(ImageFormat(argument: format.rawValue.lowercased()) == format)
        }
        #expect(ImageFormat(argument: "unknown") == nil)
        #expect(ImageFormat(argument: "") == nil)
    }
}
