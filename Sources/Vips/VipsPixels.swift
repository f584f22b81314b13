import CVips

/// The evaluated pixels of an image: rows from top to bottom without padding, bands interleaved.
///
/// `@unchecked Sendable`: the memory belongs to this object alone, which only reads its address. Whoever
/// writes through `pointer` makes sure that nobody else uses it meanwhile.
public final class VipsPixels: @unchecked Sendable {
    /// The first byte. Valid as long as this object, which `withExtendedLifetime` guarantees.
    public let pointer: UnsafeMutableRawPointer

    /// The size in bytes.
    public let count: Int

    public let width: Int
    public let height: Int
    public let bands: Int
    public let format: VipsBandFormat

    /// Takes over memory that libvips allocated for the pixels of `image`.
    init(owning pointer: UnsafeMutableRawPointer, count: Int, of image: VipsImage) {
        self.pointer = pointer
        self.count = count
        width = image.width
        height = image.height
        bands = image.bands
        format = image.format
    }

    deinit {
        g_free(pointer)
    }

    /// Calls `body` with the pixels as bytes, which are valid until it returns.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(UnsafeRawBufferPointer(start: pointer, count: count))
    }
}
