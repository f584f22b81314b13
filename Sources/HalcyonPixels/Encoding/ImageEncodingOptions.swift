public import Foundation

/// How an image is written.
public struct ImageEncodingOptions: Hashable, Sendable {
    /// 0 (smallest) … 1 (best) for the lossy formats JPEG, WebP, AVIF, HEIC and JPEG XL; lossless ones
    /// have none. 1 by default: the codec's best lossy setting, not a lossless mode.
    public var quality: CGFloat
    /// Whether WebP and JPEG XL are written in their lossless modes, in which `quality` does not count;
    /// off by default. The other formats have one mode each.
    ///
    /// WebP holds 8 bits, and of an animation or with metadata it does not keep the colours of wholly
    /// transparent pixels.
    public var isLossless: Bool
    /// Metadata to write into the file; none by default, so that no position or serial number leaks.
    /// An orientation in it becomes 1. EXIF is written into JPEG, PNG, WebP, AVIF and HEIC, XMP into
    /// these and TIFF, IPTC into JPEG and TIFF; elsewhere it is left out.
    public var metadata: ImageMetadata?
    /// Which codecs write the file.
    package var coding = DirectCoding.current

    public init(quality: CGFloat = 1, isLossless: Bool = false, metadata: ImageMetadata? = nil) {
        self.quality = quality
        self.isLossless = isLossless
        self.metadata = metadata
    }
}

/// The metadata blocks of an image file, as stored there.
public struct ImageMetadata: Hashable, Sendable {
    public var exif: Data?
    public var xmp: Data?
    public var iptc: Data?

    public init(exif: Data? = nil, xmp: Data? = nil, iptc: Data? = nil) {
        self.exif = exif
        self.xmp = xmp
        self.iptc = iptc
    }
}
