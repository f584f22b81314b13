import CCodecs
import CoefficientJPEG

/// Reads ordinary JPEG files with libjpeg-turbo and nothing around it: the pipeline of an imaging library
/// costs more than the pixels of a small picture.
///
/// Sizes and pixels are as stored; `turned` applies the orientation.
public enum JPEGReader {
    /// Decodes everything at one over `denominator` (1, 2, 4 or 8), sizes rounded up.
    ///
    /// - Parameter pixels: Receives RGB rows without padding.
    /// - Throws: `CodecRefusal`.
    public static func read(
        _ file: UnsafeRawBufferPointer, header: JPEGHeader, denominator: Int,
        into pixels: UnsafeMutablePointer<UInt8>
    ) throws(CodecRefusal) {
        let width = reduced(header.width, denominator)
        let height = reduced(header.height, denominator)
        try JPEGLibrary(file, header: header).perform {
            cjpeg_reader_read_rgb($0, Int32(denominator), width, height, pixels, width * 3)
        }
    }

    /// Decodes everything and turns it as the header says, without ever holding the picture twice.
    ///
    /// - Parameter pixels: Receives RGB rows without padding, as shown.
    /// - Throws: `CodecRefusal`.
    public static func readTurned(
        _ file: UnsafeRawBufferPointer, header: JPEGHeader,
        into pixels: UnsafeMutablePointer<UInt8>
    ) throws(CodecRefusal) {
        let strip = UnsafeMutablePointer<UInt8>.allocate(capacity: 16 * 3 * header.width)
        defer { strip.deallocate() }
        try JPEGLibrary(file, header: header).perform {
            cjpeg_reader_read_turned(
                $0, header.width, header.height, Int32(header.orientation), strip, pixels)
        }
    }

    /// Decodes at exactly `width` × `height` pixels, without ever holding more than a few rows of a
    /// larger picture.
    ///
    /// - Parameters:
    ///   - isFast: Whether the smallest size that is not below the target's is decoded, in place of twice that
    ///     or more.
    ///   - skipsCoefficients: Whether files that allow it are read with the decoder that steps over what a
    ///     reduced picture does not need. What it refuses is left to libjpeg-turbo in any case.
    ///   - pixels: Receives RGB rows without padding.
    /// - Throws: `CodecRefusal`.
    public static func read(
        _ file: UnsafeRawBufferPointer, header: JPEGHeader, width: Int, height: Int,
        isFast: Bool = false, skipsCoefficients: Bool = true,
        into pixels: UnsafeMutablePointer<UInt8>
    ) throws(CodecRefusal) {
        let denominator = denominator(for: header, width: width, height: height, isFast: isFast)
        // Where a progressive file is made of means alone, most of its scans need not be read.
        let isOfMeans = header.isProgressive && isFast && denominator == 8
        if skipsCoefficients,
            try CoefficientPlanes.read(
                file, width: width, height: height, denominator: denominator,
                enlargesChroma: !isOfMeans, into: pixels)
        {
            return
        }
        let library = try JPEGLibrary(file, header: header)
        let planes = try library.planes(denominator: denominator, count: header.isGrey ? 1 : 3)
        try PlaneReduction(planes, width: width, height: height).run(library, into: pixels)
    }

    /// A side of the picture at one over `denominator`.
    public static func reduced(_ length: Int, _ denominator: Int) -> Int {
        (length + denominator - 1) / denominator
    }

    /// The greatest reduction that leaves as many samples as are wanted.
    static func denominator(
        for header: JPEGHeader, width: Int, height: Int, isFast: Bool
    ) -> Int {
        let factor = isFast ? 1 : 2
        return [8, 4, 2].first {
            reduced(header.width, $0) >= factor * width
                && reduced(header.height, $0) >= factor * height
        } ?? 1
    }
}

/// Turns pixels that were stored otherwise than they are shown.
public enum PixelTurning {
    /// Whether width and height are exchanged by orientation 1…8.
    public static func exchangesSides(_ orientation: Int) -> Bool { orientation >= 5 }

    /// Writes the pixels at `source`, `width` × `height`, to `target` as orientation 1…8 says; rows of both
    /// have no padding.
    public static func turn(
        _ source: UnsafePointer<UInt8>, width: Int, height: Int, channels: Int, orientation: Int,
        into target: UnsafeMutablePointer<UInt8>
    ) {
        cpixels_orient(source, width, height, Int32(channels), Int32(orientation), target)
    }
}

/// Reduces files with the decoder that steps over the coefficients of what is too fine to be seen:
/// a quarter faster at 1/2, and two thirds at 1/8, than libjpeg-turbo, which is bound by decoding all of
/// them. Of progressive files, of which libjpeg-turbo keeps all, it takes a fifth of the memory or less.
enum CoefficientPlanes {
    /// Reads the file at `width` × `height`, from planes at one over `denominator`.
    ///
    /// - Parameter enlargesChroma: Whether chroma of half the resolution is decoded at twice its size.
    /// - Returns: Whether it did. If not, the pixels mean nothing, and another decoder reads the file or
    ///   says what is wrong with it.
    /// - Throws: When it is to stop, which other decoders are as well.
    static func read(
        _ file: UnsafeRawBufferPointer, width: Int, height: Int, denominator: Int,
        enlargesChroma: Bool, into pixels: UnsafeMutablePointer<UInt8>
    ) throws(CodecRefusal) -> Bool {
        guard let reduction = JPEGReduction(rawValue: denominator) else { return false }
        do {
            let picture = try ReducedJPEG(
                file, reducedTo: reduction, enlargesChroma: enlargesChroma)
            try PlaneReduction(picture.planes.map(cjpeg_plane.init), width: width, height: height)
                .run(picture, into: pixels)
            return true
        } catch JPEGRefusal.late {
            throw .damaged("It takes too long")
        } catch {
            // Only a refusal: it is answered by reading the file in another way.
            return false
        }
    }
}

extension cjpeg_plane {
    fileprivate init(_ size: PlaneSize) {
        self.init(
            width: size.width, height: size.height, extent_x: size.extentX, extent_y: size.extentY,
            row_capacity: size.width, strip_height: size.rowsPerStrip)
    }
}

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
        try perform { cjpeg_reader_open($0, &found) }
        guard found.width == header.width, found.height == header.height,
            found.channels == (header.isGrey ? 1 : 3)
        else { throw .damaged("Its headers contradict each other") }
    }

    deinit {
        cjpeg_reader_destroy(reader)
    }

    /// Starts to decode planes at one over `denominator`: luminance; and Cb and Cr, unless the picture is grey.
    /// Chroma has the resolution of luminance where a larger transform gives it for nothing.
    func planes(denominator: Int, count: Int) throws(CodecRefusal) -> [cjpeg_plane] {
        var found = [cjpeg_plane](repeating: cjpeg_plane(), count: 3)
        try perform { cjpeg_reader_start_planes($0, Int32(denominator), &found) }
        return Array(found.prefix(count))
    }

    /// Runs a function of the reader, which returns whether it could do its work.
    func perform(_ work: (OpaquePointer) -> Bool) throws(CodecRefusal) {
        guard work(reader) else { throw .damaged(String(cString: cjpeg_reader_message(reader))) }
    }
}
