import Foundation
import Testing

/// A file that another program has written, and what another decoder makes of it.
struct PixelSample: CustomTestStringConvertible {
    let testDescription: String
    let data: Data
    /// The greatest difference that a sample may have, on the scale 0…255: conversions round in several ways.
    let tolerance: Double
    /// The frames as plain PNG files.
    let frames: [Data]
    /// In place of the frames, the CRC-32 of all samples of the only one.
    let checksum: UInt32?

    static let all = avif + jpegXL + colours

    init(_ name: String, tolerance: Double, _ text: String, pixels: [String]) {
        testDescription = name
        data = Self.bytes(text)
        self.tolerance = tolerance
        frames = pixels.map(Self.bytes)
        checksum = nil
    }

    init(_ name: String, tolerance: Double, _ text: String, checksum: UInt32) {
        testDescription = name
        data = Self.bytes(text)
        self.tolerance = tolerance
        frames = []
        self.checksum = checksum
    }

    private static func bytes(_ text: String) -> Data {
        Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data()
    }
}
