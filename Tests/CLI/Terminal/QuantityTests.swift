import Testing

@testable import HalcyonCLI

struct QuantityTests {
    @Test(arguments: [
        (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (196_653, "196.7 kB"),
        (999_949, "999.9 kB"), (999_950, "1.0 MB"), (12_300_000_000, "12.3 GB"),
    ])
    func choosesTheUnitOfBytes(count: Int64, text: String) {
        #expect(Quantity.bytes(count) == text)
    }

    @Test func keepsThreeDigitsOfMilliseconds() {
        #expect(Quantity.milliseconds(0.0123) == "0.01 ms")
        #expect(Quantity.milliseconds(12.34) == "12.3 ms")
        #expect(Quantity.milliseconds(1234.5) == "1234 ms")
    }

    @Test func countsNounsInSingularAndPlural() {
        #expect(Quantity.count(1, "file") == "1 file")
        #expect(Quantity.count(0, "file") == "0 files")
    }

    @Test func convertsDurations() {
        #expect(Duration.milliseconds(1500).milliseconds == 1500)
        #expect(Duration.microseconds(250).milliseconds == 0.25)
    }
}
