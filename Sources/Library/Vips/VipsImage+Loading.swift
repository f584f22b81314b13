import CVips
public import Foundation

extension VipsImage {
    /// Opens encoded bytes with one loader, such as `jpegload_buffer`. Only the header is read.
    ///
    /// Bytes are never sniffed here: the caller has recognised the format. `bytes` are not copied; they are
    /// kept until the last image derived from this one is gone.
    public static func load(
        _ loader: String, bytes: Data, _ options: [String: VipsValue] = [:]
    ) throws(VipsError) -> VipsImage {
        var operation = VipsOperation(loader)
        operation.set(options)
        operation.set("buffer", .blob(bytes))
        return try operation.run().image()
    }

    /// Opens a file with one loader, such as `jpegload`. Only the header is read.
    ///
    /// The file must not change until the last image derived from this one is gone.
    public static func load(
        _ loader: String, path: String, _ options: [String: VipsValue] = [:]
    ) throws(VipsError) -> VipsImage {
        var operation = VipsOperation(loader)
        operation.set(options)
        operation.set("filename", .string(path))
        return try operation.run().image()
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
