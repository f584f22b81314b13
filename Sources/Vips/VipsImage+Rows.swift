import CVips

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
