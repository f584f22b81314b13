import Foundation

@testable import DirectCodecs

/// Pictures with slopes, edges and some noise, and JPEG files of them.
struct JPEGFixture {
    let width: Int
    let height: Int
    let pixels: [UInt8]

    init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        var state: UInt32 = 99
        pixels = (0..<width * height).flatMap { index -> [UInt8] in
            state = state &* 1_664_525 &+ 1_013_904_223
            let (x, y) = (Double(index % width), Double(index / width))
            let wave = sin(x / 7) + cos(y / 9) + sin((x + y) / 23)
            let edge = (Int(x) / 31 + Int(y) / 23) % 2 == 0 ? 30.0 : 0
            let noise = Double(state >> 29)
            let red = 110 + 30 * wave + edge + noise
            let green = 120 + 25 * wave * (x / Double(width)) + noise
            let blue = 90 + edge + 20 * cos(x / 15) + noise
            return [red, green, blue].map { UInt8(clamping: Int($0)) }
        }
    }

    func jpeg(
        quality: Int = 90, halvesChroma: Bool = true, isProgressive: Bool = false
    ) throws -> Data {
        try JPEGWriter.write(
            pixels, width: width, height: height, channels: 3,
            options: JPEGWriter.Options(
                quality: quality, halvesChroma: halvesChroma, isProgressive: isProgressive))
    }
}

extension Data {
    /// The header of this JPEG file.
    var jpegHeader: JPEGHeader? { withUnsafeBytes { JPEGHeader($0) } }

    /// All pixels of this JPEG file, or those at a part of its size.
    func jpegPixels(denominator: Int = 1) throws -> [UInt8] {
        try withUnsafeBytes { bytes in
            guard let header = JPEGHeader(bytes) else { throw CodecRefusal.damaged("refused") }
            let count =
                JPEGReader.reduced(header.width, denominator)
                * JPEGReader.reduced(header.height, denominator) * 3
            var pixels = [UInt8](repeating: 0, count: count)
            try JPEGReader.read(bytes, header: header, denominator: denominator, into: &pixels)
            return pixels
        }
    }

    /// The pixels of this JPEG file at another size.
    func jpegPixels(
        _ width: Int, _ height: Int, isFast: Bool = false, skipsCoefficients: Bool = true
    ) throws -> [UInt8] {
        try withUnsafeBytes { bytes in
            guard let header = JPEGHeader(bytes) else { throw CodecRefusal.damaged("refused") }
            var pixels = [UInt8](repeating: 0, count: width * height * 3)
            try JPEGReader.read(
                bytes, header: header, width: width, height: height, isFast: isFast,
                skipsCoefficients: skipsCoefficients, into: &pixels)
            return pixels
        }
    }

    /// This JPEG file with a segment behind its first mark.
    func inserting(_ code: UInt8, _ content: [UInt8]) -> Data {
        let length = content.count + 2
        return prefix(2) + [0xFF, code, UInt8(length >> 8), UInt8(length & 255)] + content
            + dropFirst(2)
    }

    /// Where the second byte of a mark is.
    func place(of code: UInt8) -> Int? {
        firstRange(of: Data([0xFF, code])).map { $0.lowerBound + 1 }
    }
}
