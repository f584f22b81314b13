import CWebP

/// Luminance and chroma of an opaque WebP file, before anything is made of them: to reduce them and then
/// convert the colours of few pixels takes less time than libwebp's way, and is finer.
struct WebPPlanes: ~Copyable {
    /// The most pixels that are decoded whole: of larger pictures libwebp keeps a few rows only.
    private static let mostPixels = 4_000_000

    /// Y, Cb and Cr. What they mean is not full-range: ITU-R BT.601 with 16…235 and 16…240.
    let planes: [JPEGPlane]
    /// The samples of each, rows without padding.
    let samples: [UnsafeMutablePointer<UInt8>]

    /// Whether a file has such planes, and not more than are worth their memory.
    static func exist(in file: WebPFile, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !file.hasAlpha, !file.isAnimated, file.width * file.height <= mostPixels else {
            return false
        }
        var features = WebPBitstreamFeatures()
        let data = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        // 1 is lossy: lossless files hold RGB.
        return WebPGetFeatures(data, bytes.count, &features) == VP8_STATUS_OK
            && features.format == 1
    }

    /// - Parameter file: One in which they exist.
    init(_ file: WebPFile, _ bytes: UnsafeRawBufferPointer) throws(WebPRefusal) {
        let chromaWidth = (file.width + 1) / 2
        let chromaHeight = (file.height + 1) / 2
        let chroma = JPEGPlane(
            width: chromaWidth, height: chromaHeight, extentX: Double(file.width) / 2,
            extentY: Double(file.height) / 2, rowCapacity: chromaWidth, stripHeight: 8)
        let luminance = JPEGPlane(
            width: file.width, height: file.height, extentX: Double(file.width),
            extentY: Double(file.height), rowCapacity: file.width, stripHeight: 16)
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
