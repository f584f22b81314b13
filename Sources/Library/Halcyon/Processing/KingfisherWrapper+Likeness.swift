import HalcyonWork

/// What the image looks like at a glance. All of it is computed on the pool of threads for decoding: the
/// image is rendered at a small size, if it is not rendered yet, of an animation its first frame.
extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image in 20 to 30 characters, to be shown until it is there.
    ///
    /// - Parameters:
    ///   - columns: Waves across, 1…9: more show more and make the hash longer.
    ///   - rows: Waves down, 1…9.
    /// - Throws: `ImageCodingError`.
    public func blurHash(columns: Int = 4, rows: Int = 3) async throws -> BlurHash {
        try await glance { try $0.blurHash(columns: columns, rows: rows) }
    }

    /// The image in about 25 bytes, with its proportions and opacity, to be shown until it is there.
    ///
    /// - Throws: `ImageCodingError`.
    public func thumbHash() async throws -> ThumbHash {
        try await glance { try $0.thumbHash() }
    }

    /// A hash of which neighbouring pixels are darker; see ``PerceptualHash``.
    ///
    /// - Throws: `ImageCodingError`.
    public func dHash() async throws -> PerceptualHash {
        try await glance { try $0.dHash() }
    }

    /// A hash of the lowest frequencies; see ``PerceptualHash``.
    ///
    /// - Throws: `ImageCodingError`.
    public func pHash() async throws -> PerceptualHash {
        try await glance { try $0.pHash() }
    }

    /// The colours that the image mainly consists of.
    ///
    /// - Parameter count: The most colours, 1…64.
    /// - Throws: `ImageCodingError`.
    public func palette(count: Int = 5) async throws -> ColorPalette {
        try await glance { try $0.palette(count: count) }
    }

    private func glance<Result: Sendable>(
        _ look: @escaping @Sendable (KFCrossPlatformImage) throws -> Result
    ) async throws -> Result {
        let image: KFCrossPlatformImage = base
        return try await DecodingPool.shared.run { try look(image) }
    }
}
