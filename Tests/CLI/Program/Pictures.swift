import Foundation
import HalcyonTestKit

/// Pictures for the program to load.
enum Pictures {
    static func png(width: Int = 40, height: Int = 30) -> Data {
        PNGFixture.data(.quadrants(width: width, height: height))
    }

    /// Two frames of different colours.
    static let gif = GIFFixture.data(
        [
            .init(.solid(.red, width: 12, height: 8)), .init(.solid(.blue, width: 12, height: 8)),
        ], loopCount: 0)
}
