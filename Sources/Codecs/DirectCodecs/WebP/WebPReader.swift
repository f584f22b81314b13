import CCodecs

/// Reads the pixels of still WebP files with libwebp, straight into the memory they stay in: libvips has
/// them written as RGBA, copied, and for opaque pictures copied again as RGB.
package struct WebPReader {
    private let file: WebPFile
    private let bytes: UnsafeRawBufferPointer

    /// - Parameter bytes: Those that `file` was made of.
    package init(_ file: WebPFile, _ bytes: UnsafeRawBufferPointer) {
        self.file = file
        self.bytes = bytes
    }

    /// Writes all pixels: rows from the top, 3 or 4 channels, straight alpha, no padding.
    ///
    /// A smaller picture is resampled with Lanczos: from all samples, of large files from twice its size;
    /// or it is decoded at its very size, for the fast way. libwebp's own reduction averages areas, and
    /// lets the colours of transparent pixels shine through, so that it is not used with opacity.
    /// - Parameter pixels: Room for `width × height × channels` bytes.
    package func read(
        into pixels: UnsafeMutablePointer<UInt8>, width: Int, height: Int,
        isFast: Bool = false
    ) throws(CodecRefusal) {
        if !isFast, width < file.width || height < file.height,
            WebPPlanes.exist(in: file)
        {
            let source = try WebPPlanes(file, bytes)
            PlaneReduction(source.planes, width: width, height: height, isFullRange: false)
                .run(source.samples, into: pixels)
            return
        }
        let factor = isFast ? 1 : 2
        let isReduced =
            !file.hasAlpha && file.width > factor * width && file.height > factor * height
        let middleWidth = isReduced ? factor * width : file.width
        let middleHeight = isReduced ? factor * height : file.height
        guard middleWidth != width || middleHeight != height else {
            return try decode(into: pixels, width: width, height: height)
        }
        let middle = UnsafeMutablePointer<UInt8>.allocate(
            capacity: middleWidth * middleHeight * file.channels)
        defer { middle.deallocate() }
        try decode(into: middle, width: middleWidth, height: middleHeight)
        let reducer = PixelReducer(
            source: (middleWidth, middleHeight), width: width, height: height,
            channels: file.channels, depth: 8, into: pixels)
        for row in 0..<middleHeight { reducer.push(middle + row * middleWidth * file.channels) }
    }

    /// Has libwebp write all pixels, averaged over areas when they are fewer than those of the file.
    private func decode(
        into pixels: UnsafeMutablePointer<UInt8>, width: Int, height: Int
    ) throws(CodecRefusal) {
        guard !file.isAnimated else { throw .unusual("it is an animation") }
        try Self.decode(file, bytes) { config in
            config.output.colorspace = file.hasAlpha ? MODE_RGBA : MODE_RGB
            config.output.u.RGBA.rgba = pixels
            config.output.u.RGBA.stride = Int32(width * file.channels)
            config.output.u.RGBA.size = width * height * file.channels
            if width != file.width || height != file.height {
                config.options.use_scaling = 1
                config.options.scaled_width = Int32(width)
                config.options.scaled_height = Int32(height)
            }
        }
    }

    /// Has libwebp write into the memory that `configure` names.
    static func decode(
        _ file: WebPFile, _ bytes: UnsafeRawBufferPointer,
        _ configure: (inout WebPDecoderConfig) -> Void
    ) throws(CodecRefusal) {
        var config = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&config) != 0 else { throw .unusual("another libwebp") }
        let data = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard WebPGetFeatures(data, bytes.count, &config.input) == VP8_STATUS_OK,
            config.input.width == file.width, config.input.height == file.height
        else { throw .damaged("its headers tell different sizes") }
        config.output.is_external_memory = 1
        configure(&config)
        defer { WebPFreeDecBuffer(&config.output) }
        guard WebPDecode(data, bytes.count, &config) == VP8_STATUS_OK else {
            throw .damaged("its pixels are damaged")
        }
    }
}

/// Luminance and chroma of an opaque WebP file, before anything is made of them: to reduce them and then
/// convert the colours of few pixels takes less time than libwebp's way, and is finer.
struct WebPPlanes: ~Copyable {
    /// The most pixels that are decoded whole: of larger pictures libwebp keeps a few rows only.
    private static let mostPixels = 4_000_000

    /// Y, Cb and Cr. What they mean is not full-range: ITU-R BT.601 with 16…235 and 16…240.
    let planes: [cjpeg_plane]
    /// The samples of each, rows without padding.
    let samples: [UnsafeMutablePointer<UInt8>]

    /// Whether a file has such planes, and not more than are worth their memory.
    static func exist(in file: WebPFile) -> Bool {
        // Lossless files hold RGB.
        !file.hasAlpha && !file.isAnimated && !file.isLossless
            && file.width * file.height <= mostPixels
    }

    /// - Parameter file: One in which they exist.
    init(_ file: WebPFile, _ bytes: UnsafeRawBufferPointer) throws(CodecRefusal) {
        let chromaWidth = (file.width + 1) / 2
        let chromaHeight = (file.height + 1) / 2
        let chroma = cjpeg_plane(
            width: chromaWidth, height: chromaHeight, extent_x: Double(file.width) / 2,
            extent_y: Double(file.height) / 2, row_capacity: chromaWidth, strip_height: 8)
        let luminance = cjpeg_plane(
            width: file.width, height: file.height, extent_x: Double(file.width),
            extent_y: Double(file.height), row_capacity: file.width, strip_height: 16)
        planes = [luminance, chroma, chroma]
        samples = planes.map { .allocate(capacity: $0.width * $0.height) }

        let (planes, samples) = (planes, samples)
        try WebPReader.decode(file, bytes) { config in
            config.output.colorspace = MODE_YUV
            config.output.u.YUVA.y = samples[0]
            config.output.u.YUVA.u = samples[1]
            config.output.u.YUVA.v = samples[2]
            config.output.u.YUVA.y_stride = Int32(planes[0].width)
            config.output.u.YUVA.u_stride = Int32(planes[1].width)
            config.output.u.YUVA.v_stride = Int32(planes[2].width)
            config.output.u.YUVA.y_size = planes[0].width * planes[0].height
            config.output.u.YUVA.u_size = planes[1].width * planes[1].height
            config.output.u.YUVA.v_size = planes[2].width * planes[2].height
        }
    }

    deinit {
        for plane in samples { plane.deallocate() }
    }
}
