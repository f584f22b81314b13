import CVips
public import Foundation

extension VipsImage {
    /// Evaluates the whole pipeline on the calling thread, into memory that belongs to the result.
    public func rendered() throws(VipsError) -> VipsPixels {
        var size = 0
        let memory = try ErrorBuffer.attempt("render", lineage: lineage) {
            vips_image_write_to_memory(pointer, &size)
        }
        return VipsPixels(owning: memory, count: size, of: self)
    }

    /// Evaluates the whole pipeline on the calling thread, into memory of just the size of all pixels.
    public func render(into memory: UnsafeMutableRawBufferPointer) throws(VipsError) {
        try ErrorBuffer.attempt("render", lineage: lineage) { () -> Void? in
            let target = vips_image_new_from_memory(
                memory.baseAddress, memory.count, Int32(width), Int32(height), Int32(bands),
                format.cValue)
            guard let target else { return nil }
            defer { g_object_unref(target) }
            return vips_image_write(pointer, target) == 0 ? () : nil
        }
    }

    /// Evaluates the whole pipeline on the calling thread and returns an image of the resulting pixels.
    ///
    /// The result may be read in any order and by several threads, and needs nothing of what it was
    /// computed from. Free of cost for an image that is in memory already.
    public func copiedToMemory() throws(VipsError) -> VipsImage {
        let copy = try ErrorBuffer.attempt("copy_memory", lineage: lineage) {
            vips_image_copy_memory(pointer)
        }
        return VipsImage(owning: copy, lineage: Lineage(["copy_memory"]))
    }

    /// Evaluates the image and encodes it with one saver, such as `jpegsave_buffer`.
    ///
    /// WebP and HEIF are evaluated into memory first: their savers lose the whole pipeline when it
    /// fails or is cancelled while they read it.
    public func encoded(
        _ saver: String, _ options: [String: VipsValue] = [:]
    ) throws(VipsError) -> Data {
        try source(for: saver).run(saver, options).blob("buffer")
    }

    /// Evaluates the image and writes it to a file with one saver, such as `jpegsave`.
    public func write(
        _ saver: String, path: String, _ options: [String: VipsValue] = [:]
    ) throws(VipsError) {
        var options = options
        options["filename"] = .string(path)
        _ = try source(for: saver).run(saver, options)
    }

    /// A copy in memory of its own, for an operation that draws into it; `nil` on an error in libvips.
    func privateCopy() -> VipsImage? {
        guard let copy = vips_image_new_memory() else { return nil }
        let image = VipsImage(owning: copy, lineage: Lineage(["copy_memory"]))
        return vips_image_write(pointer, copy) == 0 ? image : nil
    }

    private func source(for saver: String) throws(VipsError) -> VipsImage {
        let leaksOnFailure = saver.hasPrefix("webpsave") || saver.hasPrefix("heifsave")
        return leaksOnFailure ? try copiedToMemory() : self
    }
}

extension VipsImage {
    /// Evaluates the image from the top, on the calling thread, and hands out its rows, each valid until
    /// `take` returns; nothing of the picture is kept.
    ///
    /// - Parameter take: Returns whether to go on.
    public func forEachRow(_ take: (UnsafeRawPointer) -> Bool) throws(VipsError) {
        try ErrorBuffer.attempt("read_rows", lineage: lineage) { () -> Void? in
            guard let region = vips_region_new(pointer) else { return nil }
            defer { g_object_unref(region) }
            for top in stride(from: 0, to: height, by: Self.rowsAtOnce) {
                let count = min(Self.rowsAtOnce, height - top)
                var strip = VipsRect(
                    left: 0, top: Int32(top), width: Int32(width), height: Int32(count))
                guard vips_region_prepare(region, &strip) == 0, let data = region.pointee.data
                else { return nil }
                // The region may reach beyond the strip, and begin above it.
                let first = Int(strip.top - region.pointee.valid.top)
                for row in first..<first + count {
                    if !take(UnsafeRawPointer(data + row * Int(region.pointee.bpl))) { return () }
                }
            }
            return ()
        }
    }

    private static let rowsAtOnce = 32
}

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
