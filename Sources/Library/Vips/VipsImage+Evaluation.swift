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

    /// Evaluates the rows above `rows`, or some fewer, as what reads an image that is loaded from top to bottom has to:
    /// libvips would keep all of them at once.
    public func passOver(rows: Int) throws(VipsError) {
        var left = rows - rows % Self.rowsAtOnce
        guard left > 0 else { return }
        try forEachRow { _ in
            left -= 1
            return left > 0
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

extension VipsImage {
    /// Opens encoded bytes with one loader, such as `jpegload_buffer`. Only the header is read.
    ///
    /// Bytes are never sniffed here: the caller has recognised the format. `bytes` are not copied; they are
    /// kept until the last image derived from this one is gone.
    public static func load(
        _ loader: String, bytes: Data, _ options: [String: VipsValue] = [:]
    ) throws(VipsError) -> VipsImage {
        try create(loader, options.merging(["buffer": .blob(bytes)]) { $1 })
    }

    /// Opens a file with one loader, such as `jpegload`. Only the header is read.
    ///
    /// The file must not change until the last image derived from this one is gone.
    public static func load(
        _ loader: String, path: String, _ options: [String: VipsValue] = [:]
    ) throws(VipsError) -> VipsImage {
        try create(loader, options.merging(["filename": .string(path)]) { $1 })
    }

    /// An image over pixels that are already in memory, without a copy.
    ///
    /// The rows at `pointer` go from top to bottom without padding, with bands interleaved, and must not
    /// be written to; `count` is their size in bytes, at least that of the pixels. `owner` is kept until
    /// the last image derived from this one is gone.
    public static func memory(
        _ pointer: UnsafeRawPointer, count: Int, owner: AnyObject, width: Int, height: Int,
        bands: Int, format: VipsBandFormat, interpretation: VipsInterpretation
    ) throws(VipsError) -> VipsImage {
        let operation = "memory"
        try Vips.requireStarted(for: operation)
        guard let columns = Int32(exactly: width), let rows = Int32(exactly: height),
            let bandCount = Int32(exactly: bands), columns > 0, rows > 0, bandCount > 0, count > 0
        else {
            throw VipsError(
                operation: operation, message: "memory: bad size \(width)x\(height)x\(bands)")
        }
        let image = try ErrorBuffer.attempt(operation) {
            vips_image_new_from_memory(pointer, count, columns, rows, bandCount, format.cValue)
        }
        image.pointee.Type = interpretation.cValue
        UnsafeMutableRawPointer(image).withMemoryRebound(to: GObject.self, capacity: 1) {
            g_object_set_data_full(
                $0, "halcyon-owner", Unmanaged.passRetained(owner).toOpaque(),
                { Unmanaged<AnyObject>.fromOpaque($0!).release() })
        }
        return VipsImage(owning: image, lineage: Lineage([operation]))
    }
}

/// Bytes at an address that does not change, kept alive for libvips, which copies no input.
package final class ByteOwner {
    package let pointer: UnsafeMutableRawPointer
    package let count: Int
    package var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: pointer, count: count)
    }

    private let data: Data?

    /// Short `Data` is stored inside the value itself and has no lasting address.
    private static let copyLimit = 1024

    /// Holds `data` without a copy, unless it is short.
    ///
    /// `Data` over its inline size keeps its bytes in one heap block that nobody else can change while
    /// this object holds a reference to it: writers make their own copy first.
    package init(_ data: Data) {
        count = data.count
        guard count > Self.copyLimit else {
            pointer = .allocate(byteCount: max(count, 1), alignment: 16)
            self.data = nil
            data.withUnsafeBytes { bytes in
                if let base = bytes.baseAddress {
                    pointer.copyMemory(from: base, byteCount: bytes.count)
                }
            }
            return
        }
        self.data = data
        pointer = data.withUnsafeBytes { UnsafeMutableRawPointer(mutating: $0.baseAddress!) }
    }

    deinit {
        if data == nil { pointer.deallocate() }
    }

    /// A libvips blob over the bytes, which keeps this object alive until the blob is freed.
    func makeBlob() -> UnsafeMutablePointer<VipsBlob> {
        let blob: UnsafeMutablePointer<VipsBlob> = vips_blob_new(
            { _, area in
                let area = area!.assumingMemoryBound(to: VipsArea.self)
                Unmanaged<ByteOwner>.fromOpaque(area.pointee.client).release()
                return 0
            }, pointer, count)
        blob.pointee.area.client = Unmanaged.passRetained(self).toOpaque()
        return blob
    }
}
