import Foundation
import Halcyon

/// An animation of three dots that light up one after the other.
enum DotsAnimation {
    private static let radius = 6
    private static let gap = 10
    private static let steps = 12
    private static let size = PixelSize(width: 6 * radius + 2 * gap, height: 2 * radius)

    static let png: Data = {
        let frames = (0..<steps).compactMap { step in
            let pixels = (0..<size.pixelCount).flatMap { pixel in
                components(pixel % size.width, pixel / size.width, step)
            }
            return Bitmap(pixels: Data(pixels), size: size)
        }
        let timing = AnimationTiming(durations: frames.map { _ in 0.08 }, loopCount: 0)
        return Image(frames: frames, timing: timing)?.kf.data(format: .PNG) ?? Data()
    }()

    /// Red, green, blue and opacity of a pixel.
    private static func components(_ x: Int, _ y: Int, _ step: Int) -> [UInt8] {
        let dot = x / (2 * radius + gap)
        let (across, down) = (2 * (x % (2 * radius + gap) - radius) + 1, 2 * (y - radius) + 1)
        guard across * across + down * down <= 4 * radius * radius else { return [0, 0, 0, 0] }
        // Each dot is a third of a round later than the one before it.
        let phase = Double((step - dot * steps / 3 + steps) % steps) / Double(steps)
        let light = 0.5 + 0.5 * cos(phase * 2 * .pi)
        func mixed(_ rest: Double, _ lit: Double) -> UInt8 { UInt8(rest + (lit - rest) * light) }
        return [mixed(190, 15), mixed(195, 107), mixed(200, 148), 255]
    }
}
