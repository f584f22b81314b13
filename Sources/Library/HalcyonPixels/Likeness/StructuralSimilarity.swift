import Foundation

extension Bitmap {
    /// The mean structural similarity of the luminance to that of `other`, which must have the same size; 1 for equal
    /// pixels.
    ///
    /// Wang, Bovik, Sheikh and Simoncelli 2004, with their Gaussian window of 11 samples and a deviation of 1.5, which
    /// is smaller where a side is. Pixels count with 8 bits, and transparent ones as they look on white.
    package func structuralSimilarity(to other: Bitmap) -> Double {
        precondition(size == other.size, "bitmaps of different sizes")
        return withEightBits { pixels in
            other.withEightBits { others in
                Self.similarity(of: (pixels, channels), (others, other.channels), size)
            }
        }
    }

    private typealias Pixels = (first: UnsafePointer<UInt8>, channels: Int)

    private static func similarity(of a: Pixels, _ b: Pixels, _ size: PixelSize) -> Double {
        let (across, down) = (window(within: size.width), window(within: size.height))
        let columns = size.width - across.count + 1
        // Both luminances, their squares and their product: one line of each, the last few blurred across, and the
        // blurred line.
        let planes = 5
        var line = [Float](repeating: 0, count: planes * size.width)
        var lines = [[Float]](
            repeating: [Float](repeating: 0, count: planes * columns), count: down.count)
        var blurred = lines[0]
        var total = 0.0
        for y in 0..<size.height {
            readLuminance(of: y, in: a, into: &line, at: 0, width: size.width)
            readLuminance(of: y, in: b, into: &line, at: size.width, width: size.width)
            multiply(&line, count: size.width)
            let slot = y % down.count
            clear(&lines[slot])
            for plane in 0..<planes {
                for (tap, weight) in across.enumerated() {
                    add(
                        line, from: plane * size.width + tap, weight, to: &lines[slot],
                        at: plane * columns, count: columns)
                }
            }
            guard y >= down.count - 1 else { continue }
            clear(&blurred)
            for (tap, weight) in down.enumerated() {
                let slot = (y + 1 + tap) % down.count
                add(lines[slot], from: 0, weight, to: &blurred, at: 0, count: blurred.count)
            }
            total += similarity(blurred, columns)
        }
        return min(1, total / Double(columns * (size.height - down.count + 1)))
    }

    private static func window(within side: Int) -> [Float] {
        let reach = min(5, (side - 1) / 2)
        let weights = (-reach...reach).map { exp(-Float($0 * $0) / (2 * 1.5 * 1.5)) }
        let sum = weights.reduce(0, +)
        return weights.map { $0 / sum }
    }

    private static func readLuminance(
        of y: Int, in pixels: Pixels, into line: inout [Float], at start: Int, width: Int
    ) {
        var pixel = pixels.first + y * width * pixels.channels
        line.withUnsafeMutableBufferPointer { line in
            for x in start..<(start + width) {
                let luminance =
                    0.299 * Float(pixel[0]) + 0.587 * Float(pixel[1]) + 0.114 * Float(pixel[2])
                let alpha = pixels.channels == 4 ? Float(pixel[3]) / 255 : 1
                line[x] = luminance * alpha + 255 * (1 - alpha)
                pixel += pixels.channels
            }
        }
    }

    private static func multiply(_ line: inout [Float], count: Int) {
        line.withUnsafeMutableBufferPointer { line in
            for x in 0..<count {
                let (a, b) = (line[x], line[count + x])
                line[2 * count + x] = a * a
                line[3 * count + x] = b * b
                line[4 * count + x] = a * b
            }
        }
    }

    private static func clear(_ line: inout [Float]) {
        line.withUnsafeMutableBufferPointer { $0.update(repeating: 0) }
    }

    /// Adds `count` weighted samples; without checks of each, which the compiler makes several at a time of.
    private static func add(
        _ source: [Float], from start: Int, _ weight: Float, to target: inout [Float],
        at place: Int, count: Int
    ) {
        precondition(start + count <= source.count && place + count <= target.count)
        source.withUnsafeBufferPointer { source in
            target.withUnsafeMutableBufferPointer { target in
                guard let source = source.baseAddress, let target = target.baseAddress else {
                    return
                }
                for x in 0..<count { target[place + x] += source[start + x] * weight }
            }
        }
    }

    /// The sum of a line's similarities.
    private static func similarity(_ blurred: [Float], _ count: Int) -> Double {
        let (c1, c2) = (Float(0.01 * 255 * 0.01 * 255), Float(0.03 * 255 * 0.03 * 255))
        var sum = 0.0
        for x in 0..<count {
            let (a, b) = (blurred[x], blurred[count + x])
            let variances = blurred[2 * count + x] + blurred[3 * count + x] - a * a - b * b
            let covariance = blurred[4 * count + x] - a * b
            sum += Double(
                (2 * a * b + c1) * (2 * covariance + c2)
                    / ((a * a + b * b + c1) * (variances + c2)))
        }
        return sum
    }
}
