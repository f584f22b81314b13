import Testing

@testable import DirectCodecs

struct PixelTurningTests {
    /// What is shown of the stored pixels a b c / d e f, after the table of EXIF 2.3 for tag 274.
    @Test(arguments: [
        (1, "abcdef"), (2, "cbafed"), (3, "fedcba"), (4, "defabc"), (5, "adbecf"),
        (6, "daebfc"), (7, "fcebda"), (8, "cfbead"),
    ])
    func turnsAsEXIFSays(_ orientation: Int, _ expected: String) {
        for channels in [1, 3, 4] {
            let stored = "abcdef".utf8.flatMap { letter in
                (0..<channels).map { letter &+ UInt8($0) * 20 }
            }
            var shown = [UInt8](repeating: 0, count: stored.count)
            shown.withUnsafeMutableBufferPointer {
                PixelTurning.turn(
                    stored, width: 3, height: 2, channels: channels, orientation: orientation,
                    into: $0.baseAddress!)
            }
            let letters = expected.utf8.flatMap { letter in
                (0..<channels).map { letter &+ UInt8($0) * 20 }
            }
            #expect(shown == letters)
        }
    }
}
