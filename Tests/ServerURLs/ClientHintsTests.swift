import Testing

@testable import HalcyonServerURLs

/// What a browser says about the size it needs.
struct ClientHintsTests {
    private func hints(_ fields: [String: [String]]) -> ClientHints {
        ClientHints { fields[$0] ?? [] }
    }

    @Test(
        arguments: [
            ([:], nil, nil), (["DPR": ["2"]], nil, 2),
            (["Sec-CH-DPR": ["1.2"], "DPR": ["3"]], nil, 1.5), (["DPR": ["1", "2.5"]], nil, 3),
            (["DPR": ["1, 2.5"]], nil, 3), (["DPR": ["8"]], nil, 3), (["DPR": ["9"]], nil, nil),
            (["DPR": ["0"]], nil, nil), (["DPR": ["-1"]], nil, nil),
            (["Sec-CH-DPR": ["1e9"]], nil, nil), (["DPR": ["nan"]], nil, nil),
            (["DPR": [""]], nil, nil),
            (["Width": ["300"]], 320, nil), (["Sec-CH-Width": ["321"]], 480, nil),
            (["Width": ["99999"]], 3840, nil), (["Width": ["300.5"]], nil, nil),
            (["Width": ["0"]], nil, nil), (["Width": ["640"], "DPR": ["2"]], 320, 2),
            (["Width": ["600"], "DPR": ["2.2"]], 214, 3),
        ] as [([String: [String]], Int?, Double?)])
    func hintsAreRoundedUpToSteps(fields: [String: [String]], width: Int?, dpr: Double?) {
        #expect(hints(fields) == ClientHints(width: width, dpr: dpr))
    }
}
