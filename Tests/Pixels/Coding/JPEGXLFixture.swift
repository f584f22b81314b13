import CCodecs
import Foundation

/// JPEG XL files with known samples, written by libjxl without any loss.
struct JPEGXLFixture {
    var width = 16
    var height = 16
    var bits = 8
    /// Whether samples are floating-point numbers of ``bits`` bits.
    var isFloat = false
    /// Whether colours are stored as they are seen (XYB), with a little loss.
    var isLossy = false
    var hasBlack = false
    var transfer = JXL_TRANSFER_FUNCTION_SRGB
    var primaries = JXL_PRIMARIES_SRGB
    /// Candelas per square metre of the brightest light.
    var peak: Float = 255
    /// Hundredths of a second for each frame of an animation.
    var delay = 10

    struct Failure: Error { let step: String }

    /// A file whose frames have one colour each: 0…1 for each channel.
    func data(_ frames: [Float]...) throws -> Data { try data(frames) }

    /// The same.
    func data(_ frames: [[Float]]) throws -> Data {
        let encoder = JxlEncoderCreate(nil)!
        defer { JxlEncoderDestroy(encoder) }
        try check(JxlEncoderUseContainer(encoder, 1), "container")
        try check(JxlEncoderSetCodestreamLevel(encoder, 10), "level")
        var info = basicInfo(isAnimation: frames.count > 1)
        try check(JxlEncoderSetBasicInfo(encoder, &info), "info")
        if hasBlack {
            var black = JxlExtraChannelInfo()
            JxlEncoderInitExtraChannelInfo(JXL_CHANNEL_BLACK, &black)
            try check(JxlEncoderSetExtraChannelInfo(encoder, 0, &black), "black")
        }
        var colours = JxlColorEncoding()
        JxlColorEncodingSetToSRGB(&colours, 0)
        colours.transfer_function = transfer
        colours.primaries = primaries
        try check(JxlEncoderSetColorEncoding(encoder, &colours), "colours")
        for frame in frames { try add(frame, to: encoder, isAnimation: frames.count > 1) }
        JxlEncoderCloseInput(encoder)
        return try output(encoder)
    }

    private func basicInfo(isAnimation: Bool) -> JxlBasicInfo {
        var info = JxlBasicInfo()
        JxlEncoderInitBasicInfo(&info)
        info.xsize = UInt32(width)
        info.ysize = UInt32(height)
        info.bits_per_sample = UInt32(bits)
        info.exponent_bits_per_sample = isFloat ? 8 : 0
        info.num_color_channels = 3
        info.uses_original_profile = isLossy ? 0 : 1
        info.intensity_target = peak
        if hasBlack { info.num_extra_channels = 1 }
        if isAnimation {
            info.have_animation = 1
            info.animation.tps_numerator = 100
            info.animation.tps_denominator = 1
            info.animation.num_loops = 3
        }
        return info
    }

    private func add(_ colour: [Float], to encoder: OpaquePointer, isAnimation: Bool) throws {
        let settings = JxlEncoderFrameSettingsCreate(encoder, nil)!
        if !isLossy { try check(JxlEncoderSetFrameLossless(settings, 1), "lossless") }
        if isAnimation {
            var header = JxlFrameHeader()
            JxlEncoderInitFrameHeader(&header)
            header.duration = UInt32(delay)
            try check(JxlEncoderSetFrameHeader(settings, &header), "frame")
        }
        var format = JxlPixelFormat(
            num_channels: UInt32(colour.count), data_type: JXL_TYPE_FLOAT,
            endianness: JXL_NATIVE_ENDIAN, align: 0)
        let samples = (0..<width * height).flatMap { _ in colour }
        try check(
            JxlEncoderAddImageFrame(
                settings, &format, samples, samples.count * MemoryLayout<Float>.size), "pixels")
        if hasBlack {
            format.num_channels = 1
            let black = [Float](repeating: 0.5, count: width * height)
            try check(
                JxlEncoderSetExtraChannelBuffer(
                    settings, &format, black, black.count * MemoryLayout<Float>.size, 0), "black")
        }
    }

    private func output(_ encoder: OpaquePointer) throws -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let (status, count) = buffer.withUnsafeMutableBufferPointer { bytes in
                var next = bytes.baseAddress
                var available = bytes.count
                let status = JxlEncoderProcessOutput(encoder, &next, &available)
                return (status, bytes.count - available)
            }
            data.append(contentsOf: buffer.prefix(count))
            if status == JXL_ENC_SUCCESS { return data }
            guard status == JXL_ENC_NEED_MORE_OUTPUT else { throw Failure(step: "output") }
        }
    }

    private func check(_ status: JxlEncoderStatus, _ step: String) throws {
        guard status == JXL_ENC_SUCCESS else { throw Failure(step: step) }
    }
}
