package import Foundation
package import HalcyonPixels

/// Pixels of 0…1 in plain Swift, to compare what processors do with what they should do.
package struct Picture: Equatable {
    package var width: Int
    package var height: Int
    /// Straight RGBA.
    package var pixels: [SIMD4<Double>]

    package init(width: Int, height: Int, _ pixel: (_ x: Int, _ y: Int) -> SIMD4<Double>) {
        self.width = width
        self.height = height
        pixels = (0..<(width * height)).map { pixel($0 % width, $0 / width) }
    }

    package subscript(x: Int, y: Int) -> SIMD4<Double> { pixels[y * width + x] }

    /// The pixel at a place, or the nearest one at the edge.
    package func extended(_ x: Int, _ y: Int) -> SIMD4<Double> {
        self[min(max(x, 0), width - 1), min(max(y, 0), height - 1)]
    }

    /// A picture with each pixel changed.
    package func map(_ change: (SIMD4<Double>) -> SIMD4<Double>) -> Picture {
        Picture(width: width, height: height) { change(self[$0, $1]) }
    }

    /// The pixels of an image.
    package init(_ image: Image, frame: Int = 0) throws {
        let bitmap = try image.bitmap(frame: frame)
        self.init(width: bitmap.size.width, height: bitmap.size.height) { x, y in
            let color = bitmap[x, y]
            return SIMD4(color.red, color.green, color.blue, color.alpha)
        }
    }

    /// An image of the pixels, rounded to the depth; `hasAlpha: false` leaves alpha away.
    package func bitmap(hasAlpha: Bool = true, depth: Bitmap.Depth = .eight) -> Bitmap {
        let channels = hasAlpha ? 4 : 3
        let maximum = depth == .eight ? 255.0 : 65535
        var data = Data()
        for pixel in pixels {
            for channel in 0..<channels {
                let value = (pixel[channel] * maximum).rounded()
                if depth == .eight {
                    data.append(UInt8(value))
                } else {
                    withUnsafeBytes(of: UInt16(value)) { data.append(contentsOf: $0) }
                }
            }
        }
        return Bitmap(
            pixels: data, size: PixelSize(width: width, height: height), channels: channels,
            depth: depth)!
    }

    package func image(
        hasAlpha: Bool = true, depth: Bitmap.Depth = .eight, scale: CGFloat = 1
    ) -> Image {
        Image(bitmap: bitmap(hasAlpha: hasAlpha, depth: depth), scale: scale)
    }

    /// The largest difference of opacity, or of colour times opacity (what can be seen of it).
    package func difference(to other: Picture) -> Double {
        guard width == other.width, height == other.height else { return .infinity }
        return zip(pixels, other.pixels).reduce(0) { largest, pair in
            let (a, b) = pair
            let visible = min(a.w, b.w) * max(abs(a.x - b.x), abs(a.y - b.y), abs(a.z - b.z))
            return max(largest, visible, abs(a.w - b.w))
        }
    }

    /// Colours and opacities without a pattern, the same in every run.
    package static func noise(width: Int, height: Int, hasAlpha: Bool = true) -> Picture {
        var state: UInt64 = 0x9e37_79b9_7f4a_7c15
        func next() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 56) / 255
        }
        return Picture(width: width, height: height) { x, _ in
            let alpha = hasAlpha ? (x % 3 == 0 ? 1 : next()) : 1
            return SIMD4(next(), next(), next(), alpha)
        }
    }
}
