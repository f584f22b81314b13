/// Limits beyond which decoding is refused or stopped.
///
/// The memory that a decoder will need is estimated from the file's header, before any is taken. A
/// file that exceeds a limit may still be decoded as a smaller picture: a processor that makes one,
/// such as `DownsamplingImageProcessor`, lets the decoder discard rows as it goes, where the
/// format allows for it.
public struct DecodingLimits: Hashable, Sendable {
    /// The most pixels one frame may have; `nil` for no limit. 150 million by default: above the
    /// largest camera photographs, below what needs 600 MB.
    public var maximumPixelCount: Int?
    /// Whether PDF (its first page) is read. Off by default: PDF readers have a large attack surface.
    public var allowsPDF: Bool
    /// The most bytes of memory that decoding one image may take, its pixels included; `nil` for no limit.
    /// 512 MiB by default.
    ///
    /// A pixel takes 3 bytes, 4 with alpha, and twice that with 16 bits per sample; the limit is
    /// therefore about 178 million pixels of an ordinary JPEG file, 67 million of a PNG file with
    /// 16 bits and alpha. Some files take more while they are decoded: JPEG in several scans, as progressive
    /// ones are, 3 to 6 bytes per pixel, AVIF 10 for each that is stored, animated GIF, WebP and PNG 9 to 16
    /// for each pixel of the canvas, PNG of 16 bits twice that. Steps that have the picture in memory count
    /// as well: a turn or a flip once, a blur twice. A server may choose half of it.
    public var maximumMemory: Int?
    /// The longest time that decoding one image may take; `nil` for no limit. 30 seconds by default.
    ///
    /// Decoding that takes longer is stopped between two rows, of AVIF, HEIC, JPEG XL and WebP only between
    /// two frames, and of a drawing between two tiles, which may be never. Decoding in another process ends
    /// with that process at the latest (``DecodingIsolation``). The time counts from when decoding begins,
    /// without what was spent waiting for others.
    public var maximumDuration: Duration?

    public init(
        maximumPixelCount: Int? = 150_000_000, allowsPDF: Bool = false,
        maximumMemory: Int? = 512 << 20, maximumDuration: Duration? = .seconds(30)
    ) {
        self.maximumPixelCount = maximumPixelCount
        self.allowsPDF = allowsPDF
        self.maximumMemory = maximumMemory
        self.maximumDuration = maximumDuration
    }

    public static let `default` = DecodingLimits()
}
