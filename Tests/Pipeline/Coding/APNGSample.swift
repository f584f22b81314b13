import Foundation
import Testing

@testable import HalcyonPixels

/// Animated PNG files that Pillow 13 has written, and checksums (CRC-32) of their frames as RGBA: the pixels as it
/// reads them, drawn onto each other by a few lines of Python after the words of the specification. (Pillow
/// itself leaves out what a frame covered that is disposed of as "previous", and lays frames over a picture
/// that is none.)
struct APNGSample: CustomTestStringConvertible {
    let name: String
    let timing: AnimationTiming
    let checksums: [UInt32]
    private let text: String

    var data: Data { Data(base64Encoded: text.filter { !$0.isWhitespace }) ?? Data() }
    var testDescription: String { name }

    static let all = [
        APNGSample(
            name: "frames laid over each other",
            timing: AnimationTiming(
                durations: [0.1, 0.05, 0.2, 0.04, 0.07], loopCount: 3),
            checksums: [
                0x426E_1ED0, 0x420A_C3DC, 0x80F6_B82E, 0x5C5B_D382, 0xD202_0C6F,
            ],
            text: """
                iVBORw0KGgoAAAANSUhEUgAAABgAAAASCAYAAABB7B6eAAAACGFjVEwAAAAFAAAAA9ikHtoAAAAaZmNUTAAA
                AAAAAAAYAAAAEgAAAAAAAAAAAAEACgAAwmFjMQAAADRJREFUeJxjfMbg9p8BD9CzEcEnTRAwUaR71IJRCxgY
                GBhYKE2GhMDQD6JRC0YtGLWAgQEApawDTeBX15gAAAAaZmNUTAAAAAEAAAAYAAAAEgAAAAAAAAAAAAEAFAEB
                IbYGSAAAADJmZEFUAAAAAnicY2AY6oARXeCEhtt/fBosbuzC0IMPMJHqIlLBqAUjwIJRMApGAR0AAAPABA51
                8h4ZAAAAGmZjVEwAAAADAAAACAAAAAcAAAAIAAAABAABAAUCAdDCkL0AAAAaZmRBVAAAAAR4nGNcFeD2nwEP
                YMInOWQUAAAIFwJNvG2ikQAAABpmY1RMAAAABQAAABAAAAAIAAAABAAAAAIAAQAZAAE9o5i+AAAAH2ZkQVQA
                AAAGeJxjYBgFjIQU9FS4/ccnz0SpCwbeAAAI8AJR3+tVngAAABpmY1RMAAAABwAAAAwAAAAJAAAADAAAAAYA
                BwBkAABwp0CxAAAAH2ZkQVQAAAAIeJxjYKA1YEQXyFvg9h+fBiZSbRiRGgD8wQJhst4LdQAAAABJRU5ErkJg
                gg==
                """),
        APNGSample(
            name: "a picture that is no frame",
            timing: AnimationTiming(
                durations: [0.08, 0.08, 0.08, 0.08], loopCount: 0),
            checksums: [
                0xF1F5_9666, 0x80F6_B82E, 0x18A6_92BF, 0xD202_0C6F,
            ],
            text: """
                iVBORw0KGgoAAAANSUhEUgAAABgAAAASCAYAAABB7B6eAAAACGFjVEwAAAAEAAAAAHzNZtAAAAA0SURBVHic
                Y3zG4PafAQ/QsxHBJ00QMFGke9SCUQsYGBgYWChNhoTA0A+iUQtGLRi1gIEBAKWsA03gV9eYAAAAGmZjVEwA
                AAAAAAAAGAAAABIAAAAAAAAAAAACABkAAeymNF4AAAAyZmRBVAAAAAF4nGNgGOqAEV3ghIbbf3waLG7swtCD
                DzCR6iJSwagFI8CCUTAKRgEdAAADwAQOznkDtgAAABpmY1RMAAAAAgAAAAwAAAAJAAAABAAAAAIAAgAZAAAx
                zbrTAAAAH2ZkQVQAAAADeJxjYKA1YEQXWBXg9h+fBiZSbRiRGgDjmQJNeQiXYwAAABpmY1RMAAAABAAAAAwA
                AAAHAAAACAAAAAQAAgAZAQE2onb2AAAAIWZkQVQAAAAFeJxjYKA1YEQX6Klw+49PAxOpNtBeA8kAAArfAlFB
                6sZkAAAAGmZjVEwAAAAGAAAACAAAAAcAAAAQAAAACAACABkBAJbO15EAAAAaZmRBVAAAAAd4nGPMW+D2nwEP
                YMInOWQUAAAZvwJh7W1K3gAAAABJRU5ErkJggg==
                """),
        APNGSample(
            name: "frames without opacity",
            timing: AnimationTiming(
                durations: [0.06, 0.06, 0.06, 0.06, 0.06], loopCount: 1),
            checksums: [
                0x426E_1ED0, 0xBDF5_A2BC, 0x47AB_7D34, 0x1865_FDAE, 0x518A_515F,
            ],
            text: """
                iVBORw0KGgoAAAANSUhEUgAAABgAAAASCAIAAADOjonJAAAACGFjVEwAAAAFAAAAATaqf/YAAAAaZmNUTAAA
                AAAAAAAYAAAAEgAAAAAAAAAAAAMAMgAAktmEeQAAAC1JREFUeJxjfMbgxoAN6NmIYBXHBZhIUj1q0OAwiIXU
                aMYFBp/XRg0aNYgaAABu5AJOP2sBvgAAABpmY1RMAAAAAQAAABgAAAASAAAAAAAAAAAAAwAyAAAJqm6tAAAA
                LGZkQVQAAAACeJxjYBhsgBGZc0LDDasiixu7CBrERB33jBpEV4NGwSgYVAAAkEsDDjX1938AAAAaZmNUTAAA
                AAMAAAAMAAAACQAAAAQAAAACAAMAMgAAo8bQtgAAAB5mZEFUAAAABHicY2CgFmBE5qwKcMOqiIkYk4asIgA7
                FQFOnkZ2vAAAABpmY1RMAAAABQAAAAwAAAAHAAAACAAAAAQAAwAyAADKtR1EAAAAIGZkQVQAAAAGeJxjYKAW
                YETm9FS4YVXERIxJ1FNEFAAA4QoBUkT5PkQAAAAaZmNUTAAAAAcAAAAMAAAACQAAAAwAAAAGAAMAMgAA7Ra0
                cwAAAB5mZEFUAAAACHicY2CgFmBE5uQtcMOqiIkYk4asIgBN/QFit2hwqgAAAABJRU5ErkJggg==
                """),
    ]
}
