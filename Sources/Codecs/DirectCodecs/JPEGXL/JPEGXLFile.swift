import CCodecs

/// A JPEG XL file with its header read, and the place in it up to which its frames are decoded.
///
/// libvips leaves multiplied opacity as it is, takes floating-point samples for light, and cannot show what
/// is brighter than paper.
///
/// `@unchecked Sendable`: the one reader that owns it is used by one thread at a time.
package final class JPEGXLFile: @unchecked Sendable {
    /// Width and height as shown.
    package let width: Int
    package let height: Int
    package let hasAlpha: Bool
    package let isGrey: Bool
    /// Bits per sample as delivered: 8 or 16.
    package let depth: Int
    package let meaning: Meaning
    /// Seconds that each frame of an animation is shown; empty for a still picture.
    package let durations: [Double]
    /// The number of times an animation plays; 0 means forever.
    package let loopCount: Int

    package enum Meaning: Sendable {
        case described(ColourDescription)
        case profile([UInt8])
    }

    /// Channels as delivered: one for grey with a profile of its own, else three; one more for opacity.
    package var channels: Int {
        if isGrey, case .profile = meaning { return hasAlpha ? 2 : 1 }
        return hasAlpha ? 4 : 3
    }

    package static let isAvailable = cjxl_load() != nil

    /// The version of libjxl; `nil` when it is not installed.
    package static var libraryVersion: String? {
        cjxl_load().map { functions in
            // A million for each major version, a thousand for each minor one.
            let number = functions.pointee.version()
            return "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)"
        }
    }

    private let decoder: Decoder
    private let owner: AnyObject

    /// Reads the header of a whole file; decodes nothing.
    ///
    /// - Parameter owner: Keeps `bytes` where they are; kept as long as this.
    package init(_ bytes: UnsafeRawBufferPointer, owner: AnyObject) throws(CodecRefusal) {
        self.owner = owner
        decoder = try Decoder(
            bytes, for: [JXL_DEC_BASIC_INFO, JXL_DEC_COLOR_ENCODING, JXL_DEC_FULL_IMAGE])
        guard decoder.jxl.set_unpremultiply(decoder.pointer, 1) == JXL_DEC_SUCCESS else {
            throw .unusual("opacity cannot be separated from colours")
        }
        try decoder.advance(to: JXL_DEC_BASIC_INFO)
        let info = try decoder.info()
        try decoder.advance(to: JXL_DEC_COLOR_ENCODING)
        meaning = try Meaning(decoder.jxl, decoder.pointer, info)
        width = Int(info.xsize)
        height = Int(info.ysize)
        hasAlpha = info.alpha_bits > 0
        isGrey = info.num_color_channels == 1
        let isDeep =
            info.bits_per_sample > 8 || info.exponent_bits_per_sample > 0 || info.alpha_bits > 8
        depth = isDeep ? 16 : 8
        let durations = info.have_animation == 0 ? [] : try Self.durations(bytes, info)
        self.durations = durations.count > 1 ? durations : []
        loopCount = Int(info.animation.num_loops)
    }

    /// Decodes the next frame and writes it as shown: rows from the top without padding, straight opacity.
    ///
    /// - Parameter pixels: Room for `width × height × channels` samples of ``depth`` bits.
    package func next(into pixels: UnsafeMutableRawPointer) throws(CodecRefusal) {
        var format = JxlPixelFormat(
            num_channels: UInt32(channels),
            data_type: depth == 8 ? JXL_TYPE_UINT8 : JXL_TYPE_UINT16,
            endianness: JXL_NATIVE_ENDIAN, align: 0)
        let count = width * height * channels * depth / 8
        try decoder.advance(to: JXL_DEC_NEED_IMAGE_OUT_BUFFER)
        var needed = 0
        let (jxl, pointer) = (decoder.jxl, decoder.pointer)
        guard
            jxl.get_output_size(pointer, &format, &needed) == JXL_DEC_SUCCESS,
            needed == count,
            jxl.set_output(pointer, &format, pixels, count) == JXL_DEC_SUCCESS
        else { throw .unusual("its samples cannot be had as \(depth) bits") }
        try decoder.advance(to: JXL_DEC_FULL_IMAGE)
        guard !cdecoding_is_late() else { throw .damaged("it takes too long") }
    }

    /// Resamples a frame of three channels or more, as ``next(into:)`` has written it.
    ///
    /// - Parameter target: Room for `width × height` pixels.
    package func reduce(
        _ pixels: UnsafeRawPointer, width: Int, height: Int, into target: UnsafeMutableRawPointer
    ) throws(CodecRefusal) {
        let reducer = PixelReducer(
            source: (self.width, self.height), width: width, height: height,
            channels: channels, depth: depth, into: target)
        for row in 0..<self.height {
            if row.isMultiple(of: 64), cdecoding_is_late() { throw .damaged("it takes too long") }
            reducer.push(pixels + row * self.width * channels * depth / 8)
        }
    }

    package func skip(_ count: Int) {
        decoder.jxl.skip_frames(decoder.pointer, count)
    }
}

extension JPEGXLFile {
    /// The times of an animation's frames, which stand at each of them: all are passed over.
    private static func durations(
        _ bytes: UnsafeRawBufferPointer, _ info: JxlBasicInfo
    ) throws(CodecRefusal) -> [Double] {
        let decoder = try Decoder(bytes, for: [JXL_DEC_FRAME])
        let tick =
            info.animation.tps_numerator == 0
            ? 0 : Double(info.animation.tps_denominator) / Double(info.animation.tps_numerator)
        var durations: [Double] = []
        while true {
            switch decoder.jxl.process(decoder.pointer) {
            case JXL_DEC_FRAME:
                var frame = JxlFrameHeader()
                guard decoder.jxl.get_frame(decoder.pointer, &frame) == JXL_DEC_SUCCESS else {
                    throw .damaged("a frame has no header")
                }
                durations.append(Double(frame.duration) * tick)
            case JXL_DEC_SUCCESS: return durations
            case JXL_DEC_NEED_MORE_INPUT: throw .damaged("it is cut short")
            default: throw .damaged("its frames cannot be told apart")
            }
        }
    }

    private final class Decoder {
        let jxl: cjxl_functions
        let pointer: OpaquePointer

        /// - Parameter events: Where it stops.
        init(
            _ bytes: UnsafeRawBufferPointer, for events: [JxlDecoderStatus]
        ) throws(CodecRefusal) {
            jxl = try CodecRefusal.unlessInstalled(cjxl_load())
            guard let pointer = jxl.create(nil) else {
                throw .unusual("there is not enough memory for it")
            }
            self.pointer = pointer
            let mask = events.reduce(0) { $0 | Int32($1.rawValue) }
            let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            // The input stays open, so that a file that is cut short asks for more.
            guard jxl.subscribe(pointer, mask) == JXL_DEC_SUCCESS,
                jxl.set_input(pointer, start, bytes.count) == JXL_DEC_SUCCESS
            else { throw .damaged("it has no bytes") }
        }

        deinit {
            jxl.destroy(pointer)
        }

        func advance(to event: JxlDecoderStatus) throws(CodecRefusal) {
            while true {
                let status = jxl.process(pointer)
                switch status {
                case event: return
                case JXL_DEC_BASIC_INFO, JXL_DEC_COLOR_ENCODING, JXL_DEC_FRAME: continue
                case JXL_DEC_NEED_MORE_INPUT: throw .damaged("it is cut short")
                case JXL_DEC_ERROR: throw .damaged("it cannot be decoded")
                default: throw .damaged("frames are missing")
                }
            }
        }

        func info() throws(CodecRefusal) -> JxlBasicInfo {
            var info = JxlBasicInfo()
            guard jxl.get_info(pointer, &info) == JXL_DEC_SUCCESS else {
                throw .damaged("it has no header")
            }
            for index in 0..<Int(info.num_extra_channels) {
                var channel = JxlExtraChannelInfo()
                guard jxl.get_channel(pointer, index, &channel) == JXL_DEC_SUCCESS
                else { throw .damaged("its channels are not described") }
                if channel.type == JXL_CHANNEL_BLACK {
                    throw .unusual("its colours are those of print (CMYK)")
                }
            }
            return info
        }
    }
}
