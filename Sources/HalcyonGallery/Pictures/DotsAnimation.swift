import Foundation
import HalcyonTestKit

/// An animated GIF of three dots that light up one after the other.
enum DotsAnimation {
    private static let radius = 6
    private static let gap = 10
    private static let steps = 12

    static let gif = GIFFixture.data(
        (0..<steps).map { step in
            GIFFixture.Frame(
                PixelGrid(width: 6 * radius + 2 * gap, height: 2 * radius) { x, y in
                    pixel(x, y, step)
                }, delay: 8, disposal: .restoreBackground)
        }, loopCount: 0)

    private static func pixel(_ x: Int, _ y: Int, _ step: Int) -> Pixel {
        let dot = x / (2 * radius + gap)
        let (across, down) = (2 * (x % (2 * radius + gap) - radius) + 1, 2 * (y - radius) + 1)
        guard across * across + down * down <= 4 * radius * radius else { return .clear }
        // Each dot is a third of a round later than the one before it.
        let phase = Double((step - dot * steps / 3 + steps) % steps) / Double(steps)
        let light = 0.5 + 0.5 * cos(phase * 2 * .pi)
        func mixed(_ rest: Double, _ lit: Double) -> UInt8 { UInt8(rest + (lit - rest) * light) }
        return Pixel(mixed(190, 15), mixed(195, 107), mixed(200, 148))
    }
}
