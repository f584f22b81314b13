package import Foundation

/// Hashes and palettes of an image. All of them render it on the calling thread, at a small size
/// if it is not rendered yet; for an animation the first frame.
extension Image {
    /// - Throws: `ImageCodingError`.
    package func blurHash(columns: Int, rows: Int) throws -> BlurHash {
        try BlurHash(reduced(toLongestSide: 32), columns: columns, rows: rows)
    }

    /// - Throws: `ImageCodingError`.
    package func thumbHash() throws -> ThumbHash {
        try ThumbHash(reduced(toLongestSide: 32))
    }

    /// - Throws: `ImageCodingError`.
    package func dHash() throws -> PerceptualHash {
        try PerceptualHash(differencesOf: small(PerceptualHash.differenceSize))
    }

    /// - Throws: `ImageCodingError`.
    package func pHash() throws -> PerceptualHash {
        try PerceptualHash(frequenciesOf: small(PerceptualHash.frequencySize))
    }

    /// - Throws: `ImageCodingError`.
    package func palette(count: Int) throws -> ColorPalette {
        try ColorPalette(reduced(toLongestSide: 64), count: count)
    }

    private func small(_ size: PixelSize) throws -> SmallPicture {
        try SmallPicture(resized(to: size).bitmap())
    }

    /// The pixels, none more than `side` along the longer side; small pictures as they are.
    private func reduced(toLongestSide side: Int) throws -> Bitmap {
        guard pixelSize.longestSide > side else { return try bitmap() }
        return try resized(to: pixelSize.scaled(toLongestSide: side)).bitmap()
    }
}

extension Image {
    /// The picture of a hash, small, but of `size` points when that is given; its scale is less than 1
    /// then.
    package convenience init(_ hash: BlurHash, size: CGSize?) {
        let proportions =
            size.map { PixelSize(points: $0, scale: 1) }
            ?? PixelSize(width: hash.columns, height: hash.rows)
        let bitmap = hash.bitmap(size: proportions.scaled(toLongestSide: 32))
        self.init(bitmap: bitmap, scale: Self.scale(of: bitmap, for: size))
    }

    /// As for a BlurHash.
    package convenience init(_ hash: ThumbHash, size: CGSize?) {
        let bitmap = hash.bitmap()
        self.init(bitmap: bitmap, scale: Self.scale(of: bitmap, for: size))
    }

    /// Pixels per point of a bitmap that is to be as large as `size`.
    private static func scale(of bitmap: Bitmap, for size: CGSize?) -> CGFloat {
        guard let size, max(size.width, size.height) > 0 else { return 1 }
        return CGFloat(bitmap.size.longestSide) / max(size.width, size.height)
    }
}
