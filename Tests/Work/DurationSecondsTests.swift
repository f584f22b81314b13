import HalcyonWork
import Testing

struct DurationSecondsTests {
    private static let durations: [(Duration, Double)] = [
        (.zero, 0), (.seconds(1), 1), (.seconds(3601), 3601), (.seconds(2_592_001), 2_592_001),
        (.milliseconds(100), 0.1), (.milliseconds(1), 0.001), (.milliseconds(1500), 1.5),
        (.nanoseconds(1), 1e-9), (.seconds(-3601), -3601), (.milliseconds(-1500), -1.5),
        (.milliseconds(-1), -0.001),
    ]

    @Test(arguments: durations)
    func theSecondsOfADurationAreExact(duration: Duration, seconds: Double) {
        #expect(duration.inSeconds == seconds)
    }
}
