import CVips
package import Foundation

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
