import CWebP

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
    /// With a smaller size than the file's, libwebp's decoder reduces the picture while it decodes, by
    /// averaging areas.
    /// - Parameter pixels: Room for `width × height × channels` bytes.
    package func read(
        into pixels: UnsafeMutablePointer<UInt8>, width: Int, height: Int
    ) throws(WebPRefusal) {
        guard !file.isAnimated else { throw .unusual("it is an animation") }
        var config = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&config) != 0 else { throw .unusual("another libwebp") }
        let data = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard WebPGetFeatures(data, bytes.count, &config.input) == VP8_STATUS_OK,
            config.input.width == file.width, config.input.height == file.height
        else { throw .damaged("its headers tell different sizes") }
        config.output.colorspace = file.hasAlpha ? MODE_RGBA : MODE_RGB
        config.output.is_external_memory = 1
        config.output.u.RGBA.rgba = pixels
        config.output.u.RGBA.stride = Int32(width * file.channels)
        config.output.u.RGBA.size = width * height * file.channels
        if width != file.width || height != file.height {
            config.options.use_scaling = 1
            config.options.scaled_width = Int32(width)
            config.options.scaled_height = Int32(height)
        }
        defer { WebPFreeDecBuffer(&config.output) }
        guard WebPDecode(data, bytes.count, &config) == VP8_STATUS_OK else {
            throw .damaged("its pixels are damaged")
        }
    }

    /// Writes the pixels of a smaller picture.
    ///
    /// Decodes at twice the size, where the file is larger than that, and resamples the rest with
    /// Lanczos, which also weighs colours by their opacity: libwebp's own reduction blurs, and lets
    /// colours of transparent pixels shine through.
    /// - Parameter pixels: Room for `width × height × channels` bytes.
    package func readReduced(
        into pixels: UnsafeMutablePointer<UInt8>, width: Int, height: Int
    ) throws(WebPRefusal) {
        let isFar = !file.hasAlpha && file.width > 2 * width && file.height > 2 * height
        let (middleWidth, middleHeight) =
            isFar ? (2 * width, 2 * height) : (file.width, file.height)
        let middle = UnsafeMutablePointer<UInt8>.allocate(
            capacity: middleWidth * middleHeight * file.channels)
        defer { middle.deallocate() }
        try read(into: middle, width: middleWidth, height: middleHeight)
        InterleavedResampler.resample(
            middle, bytesPerRow: middleWidth * file.channels,
            horizontal: SampleAxis(sourceCount: middleWidth, targetCount: width),
            vertical: SampleAxis(sourceCount: middleHeight, targetCount: height),
            channels: file.channels, into: pixels)
    }
}
