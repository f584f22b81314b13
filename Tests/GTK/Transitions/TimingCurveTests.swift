import Testing

@testable import Halcyon
@testable import HalcyonGTK

@Suite struct TimingCurveTests {
    @Test func aLinearCurveKeepsItsSpeed() {
        for part in stride(from: 0.0, through: 1, by: 0.1) {
            #expect(abs(TimingCurve.linear.progress(at: part) - part) < 1e-6)
        }
    }

    /// Values of the CSS curves that browsers give.
    @Test func theCurvesAreThoseOfCSS() {
        let expected: [(TimingCurve, Double)] = [
            (.easeIn, 0.0935), (.easeOut, 0.3782), (.easeInOut, 0.1292),
        ]
        for (curve, value) in expected {
            #expect(abs(curve.progress(at: 0.25) - value) < 5e-4)
        }
        #expect(abs(TimingCurve.easeInOut.progress(at: 0.5) - 0.5) < 1e-6)
    }

    @Test func beforeTheBeginningAndAfterTheEndNothingMoves() {
        #expect(TimingCurve.easeIn.progress(at: -1) == 0 && TimingCurve.easeIn.progress(at: 2) == 1)
        #expect(TimingCurve.easeIn.progress(at: .nan) == 0)
        #expect(TimingCurve.easeIn.progress(at: .infinity) == 1)
    }

    @Test func optionsNameTheCurve() {
        #expect(TimingCurve([]) == .easeInOut)
        #expect(TimingCurve([.curveEaseIn, .curveEaseOut]) == .easeInOut)
        #expect(TimingCurve([.curveEaseIn, .transitionCrossDissolve]) == .easeIn)
        #expect(TimingCurve([.curveEaseOut]) == .easeOut)
        #expect(TimingCurve([.curveLinear, .curveEaseOut]) == .linear)
    }
}
