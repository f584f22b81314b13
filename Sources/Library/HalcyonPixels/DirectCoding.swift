import Synchronization

/// Which formats are read and written by their own codecs, with nothing between the codec and the pixels,
/// instead of with libvips.
///
/// The options by which an image is made or written carry such a value. What is set here for the whole
/// program counts for options that are made afterwards.
public struct DirectCoding: Hashable, Sendable {
    /// The formats for which that can be done.
    public static let supportedFormats = Set(order)

    /// The formats for which it is done, where the file and the request allow it. All that are supported
    /// by default; without a format everything of it passes through libvips, to compare the two or to
    /// get around a defect of one. Counts for images that are made afterwards.
    public static var formats: Set<ImageFormat> {
        get { supportedFormats.filter(current.contains) }
        set { chosen.store(bits(of: newValue), ordering: .relaxed) }
    }

    /// Whether reduced JPEG pictures are decoded without the coefficients that they do not show, where the
    /// file allows it: a quarter faster at 1/2 of the size, and two thirds at 1/8, with the same pixels at
    /// 1/8 and finer ones at 1/4 and 1/2. True by default; otherwise libjpeg-turbo decodes them all.
    public static var skipsJPEGCoefficients: Bool {
        get { skipping.load(ordering: .relaxed) }
        set { skipping.store(newValue, ordering: .relaxed) }
    }

    package static var current: DirectCoding {
        DirectCoding(
            bits: chosen.load(ordering: .relaxed),
            skipsJPEGCoefficients: skipping.load(ordering: .relaxed))
    }

    package init(formats: Set<ImageFormat>, skipsJPEGCoefficients: Bool) {
        self.init(
            bits: Self.bits(of: formats), skipsJPEGCoefficients: skipsJPEGCoefficients)
    }

    init(bits: UInt8, skipsJPEGCoefficients: Bool) {
        self.bits = bits
        self.skipsJPEGCoefficients = skipsJPEGCoefficients
    }

    /// A bit for each of ``order``.
    let bits: UInt8
    /// The program's setting of the same name.
    let skipsJPEGCoefficients: Bool

    func contains(_ format: ImageFormat) -> Bool {
        Self.order.firstIndex(of: format).map { bits >> $0 & 1 == 1 } ?? false
    }

    private static let order: [ImageFormat] = [.JPEG, .PNG, .WebP, .GIF, .AVIF, .JPEGXL]
    private static let chosen = Atomic(bits(of: supportedFormats))
    private static let skipping = Atomic(true)

    private static func bits(of formats: Set<ImageFormat>) -> UInt8 {
        order.indices.reduce(0) { formats.contains(order[$1]) ? $0 | 1 << $1 : $0 }
    }
}
