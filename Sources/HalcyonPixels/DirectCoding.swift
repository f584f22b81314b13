import Synchronization

/// Which formats are read and written by their own codecs, with nothing between the codec and the pixels,
/// instead of with libvips.
public enum DirectCoding {
    /// The formats for which that can be done.
    public static let supportedFormats: Set<ImageFormat> = [
        .JPEG, .PNG, .WebP, .GIF, .AVIF, .JPEGXL,
    ]

    /// The formats for which it is done, where the file and the request allow it. All that are supported
    /// by default; without a format everything of it passes through libvips, to compare the two or to
    /// get around a defect of one. Counts for images that are made afterwards.
    public static var formats: Set<ImageFormat> {
        get { chosen.withLock { $0 } }
        set { chosen.withLock { $0 = newValue.intersection(supportedFormats) } }
    }

    /// Whether reduced JPEG pictures are decoded without the coefficients that they do not show, where the
    /// file allows it: a quarter faster at 1/2 of the size, and two thirds at 1/8, with the same pixels at
    /// 1/8 and finer ones at 1/4 and 1/2. True by default; otherwise libjpeg-turbo decodes them all.
    public static var skipsJPEGCoefficients: Bool {
        get { skipping.load(ordering: .relaxed) }
        set { skipping.store(newValue, ordering: .relaxed) }
    }

    private static let chosen = Mutex(supportedFormats)
    private static let skipping = Atomic(true)
}
