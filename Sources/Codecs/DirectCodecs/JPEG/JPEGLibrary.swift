import CCodecs

/// One file, read with libjpeg-turbo. Used by one thread.
final class JPEGLibrary {
    private let reader: OpaquePointer

    /// - Parameter file: It has to stay where it is as long as this lives.
    /// - Throws: `CodecRefusal` when the header is damaged, or does not say what `header` says.
    init(_ file: UnsafeRawBufferPointer, header: JPEGHeader) throws(CodecRefusal) {
        let bytes = file.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let reader = cjpeg_reader_create(bytes, file.count) else {
            throw .damaged("there is no memory to decode it")
        }
        self.reader = reader
        var found = cjpeg_reader_header()
        guard cjpeg_reader_open(reader, &found) else { throw failure }
        guard found.width == header.width, found.height == header.height,
            found.channels == (header.isGrey ? 1 : 3)
        else { throw .damaged("Its headers contradict each other") }
    }

    deinit {
        cjpeg_reader_destroy(reader)
    }

    /// Starts to decode planes at one over `denominator`: luminance; and Cb and Cr, unless the picture is grey.
    /// Chroma has the resolution of luminance where a larger transform gives it for nothing.
    func planes(denominator: Int, count: Int) throws(CodecRefusal) -> [JPEGPlane] {
        var found: (cjpeg_plane, cjpeg_plane, cjpeg_plane) = (
            cjpeg_plane(), cjpeg_plane(), cjpeg_plane()
        )
        let started = withUnsafeMutableBytes(of: &found) {
            cjpeg_reader_start_planes(
                reader, Int32(denominator), $0.assumingMemoryBound(to: cjpeg_plane.self).baseAddress
            )
        }
        guard started else { throw failure }
        return [found.0, found.1, found.2].prefix(count).map { plane in
            JPEGPlane(
                width: plane.width, height: plane.height, extentX: plane.extent_x,
                extentY: plane.extent_y, rowCapacity: plane.row_capacity,
                stripHeight: plane.strip_height)
        }
    }

    /// Decodes the next strip into `rows[plane][row]`, which has room for the plane's `rowCapacity`
    /// bytes: `stripHeight` rows of each plane, also in the last strip, whose surplus rows mean nothing.
    func readStrip(
        into rows: UnsafePointer<UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?>
    ) throws(CodecRefusal) {
        guard cjpeg_reader_read_strip(reader, rows) else { throw failure }
    }

    /// Decodes everything at one over `denominator`, to RGB rows without padding.
    func readRGB(
        denominator: Int, width: Int, height: Int, into pixels: UnsafeMutablePointer<UInt8>
    ) throws(CodecRefusal) {
        guard
            cjpeg_reader_read_rgb(
                reader, Int32(denominator), width, height, pixels, width * 3)
        else { throw failure }
    }

    /// Decodes everything, to RGB rows without padding, as `orientation` shows them.
    func readTurned(
        width: Int, height: Int, orientation: Int, into pixels: UnsafeMutablePointer<UInt8>
    ) throws(CodecRefusal) {
        let strip = UnsafeMutablePointer<UInt8>.allocate(capacity: 16 * 3 * width)
        defer { strip.deallocate() }
        guard
            cjpeg_reader_read_turned(reader, width, height, Int32(orientation), strip, pixels)
        else { throw failure }
    }

    private var failure: CodecRefusal {
        .damaged(String(cString: cjpeg_reader_message(reader)))
    }
}

/// The samples of one of a picture's planes, as a decoder delivers them.
struct JPEGPlane {
    /// Samples in a row.
    let width: Int
    /// Rows.
    let height: Int
    /// The picture's size in samples of this plane: at most `width` and `height`, whose last samples may
    /// be covered only in part.
    let extentX: Double
    let extentY: Double
    /// Bytes of a row that are written; behind `width` they mean nothing.
    let rowCapacity: Int
    /// Rows that are delivered at once.
    let stripHeight: Int
}
