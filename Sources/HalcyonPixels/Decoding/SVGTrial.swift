import Foundation
import Vips

/// Finds out how long it takes to draw an SVG file by drawing small pictures of it: how large its shapes are,
/// and what they are painted with, no look at the file tells as surely.
struct SVGTrial {
    private let data: Data
    /// That of the drawing when it is neither enlarged nor reduced.
    private let size: PixelSize

    /// Pixels of the smallest picture, and how many times more each one has than the one before.
    private static let fewestPixels = 256.0
    private static let growth = 4.0
    /// Seconds that two pictures have to differ by to say something.
    private static let clearDifference = 0.25

    init(_ data: Data, of size: PixelSize) {
        self.data = data
        self.size = size
    }

    /// Whether it takes longer than `limit` at a size. Draws ever larger pictures until that is clear.
    func takesLonger(than limit: Duration, drawnAt wanted: PixelSize) -> Bool {
        let (limit, all) = (limit / .seconds(1), Double(wanted.pixelCount))
        var last = (pixels: 0.0, seconds: 0.0)
        var expected = 0.0
        var pixels = Self.fewestPixels
        while pixels * Self.growth < all {
            let scale = (pixels / Double(size.pixelCount)).squareRoot()
            // So thin that a small picture shows nothing of it.
            if Double(min(size.width, size.height)) * scale < 1 { return true }
            // What cannot be drawn takes no time.
            guard var seconds = secondsToDraw(at: scale) else { return false }
            if last.pixels > 0, seconds - last.seconds > Self.clearDifference {
                // Other work of the machine may have been the reason, hardly twice.
                seconds = min(seconds, secondsToDraw(at: scale) ?? seconds)
            }
            let difference = seconds - last.seconds
            expected = seconds + difference / (pixels - last.pixels) * (all - pixels)
            if expected < limit / 2 { return false }
            // The time for the first one is mostly that of reading the file, at every size the same.
            let isClear = last.pixels > 0 && difference > Self.clearDifference
            if isClear, expected > 2 * limit || difference > limit / 20 { break }
            last = (pixels, seconds)
            pixels *= Self.growth
        }
        return expected > limit
    }

    private func secondsToDraw(at scale: Double) -> Double? {
        let start = ContinuousClock.now
        do {
            let loader = try VipsLoader.of(.SVG)
            _ = try loader.open(data, VipsLoader.Request(scale: scale)).rendered()
        } catch {
            return nil
        }
        return (.now - start) / .seconds(1)
    }
}
