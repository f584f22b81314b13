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
