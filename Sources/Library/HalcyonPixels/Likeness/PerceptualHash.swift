import Foundation

/// 64 bits that are nearly the same for pictures that look the same, whatever their size, format and
/// quality.
///
/// ```swift
/// let distance = try await photo.kf.pHash().distance(to: copy.kf.pHash())
/// print(distance <= 10 ? "the same picture" : "another picture")
/// ```
///
/// A dHash costs less and tells copies in other sizes; a pHash also bears other contrast and strong
/// compression. The two kinds cannot be compared with each other.
public struct PerceptualHash: Hashable, Sendable, CustomStringConvertible {
    /// The bits, of which the highest is the first.
    public let bits: UInt64

    public init(bits: UInt64) {
        self.bits = bits
    }

    /// The hash that 16 hexadecimal digits stand for; `nil` for any other text.
    public init?(_ text: String) {
        guard text.utf8.count == 16, text.allSatisfy(\.isHexDigit),
            let bits = UInt64(text, radix: 16)
        else { return nil }
        self.bits = bits
    }

    /// 16 hexadecimal digits.
    public var description: String {
        let digits = String(bits, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The number of bits that differ (Hamming distance), 0…64: up to about 10 for the same picture,
    /// around 32 for two that have nothing in common.
    public func distance(to other: PerceptualHash) -> Int {
        (bits ^ other.bits).nonzeroBitCount
    }
}

extension PerceptualHash {
    /// The size of the picture that a dHash is made of.
    static let differenceSize = PixelSize(width: 9, height: 8)
    /// The size of the picture that a pHash is made of.
    static let frequencySize = PixelSize(width: 32, height: 32)

    /// The dHash of a picture of 9×8 pixels: for each pixel but the last of a row, row by row, whether it
    /// is darker than the one to its right.
    init(differencesOf picture: SmallPicture) {
        precondition(picture.size == Self.differenceSize, "a dHash is made of 9×8 pixels")
        let greys = picture.greys
        bits = (0..<64).reduce(into: 0) { bits, index in
            let left = index / 8 * 9 + index % 8
            bits = bits << 1 | (greys[left] < greys[left + 1] ? 1 : 0)
        }
    }

    /// The pHash of a picture of 32×32 pixels: for each of the 8×8 lowest frequencies of its cosine
    /// transform (DCT-II without weights), row by row, whether it is above the median of them.
    ///
    /// The constant is not among them: it would only tell how bright the picture is. Its bit, the first,
    /// is never set.
    init(frequenciesOf picture: SmallPicture) {
        precondition(picture.size == Self.frequencySize, "a pHash is made of 32×32 pixels")
        let greys = picture.greys
        let waves = (0..<8).map { number in
            (0..<32).map { cos(.pi / 32 * (Double($0) + 0.5) * Double(number)) }
        }
        // Of each row of pixels, its eight frequencies.
        let rows = (0..<32).map { y in
            waves.map { wave in (0..<32).reduce(0) { $0 + greys[y * 32 + $1] * wave[$1] } }
        }
        let frequencies = (1..<64).map { index in
            (0..<32).reduce(0) { $0 + rows[$1][index % 8] * waves[index / 8][$1] }
        }
        let median = frequencies.sorted()[frequencies.count / 2]
        bits = frequencies.reduce(0) { $0 << 1 | ($1 > median ? 1 : 0) }
    }
}
