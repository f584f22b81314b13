import DirectCodecs
import Foundation

/// Writes JPEG files with libjpeg-turbo: the same files as libvips writes, in less time. Metadata is left
/// to libvips.
struct JPEGEncoder: ImageEncoder {
    func canEncode(_ format: ImageFormat) -> Bool {
        format == .JPEG && DirectCoding.formats.contains(.JPEG)
    }

    func encode(
        _ frames: [Bitmap], timing: AnimationTiming?, as format: ImageFormat,
        options: ImageEncodingOptions
    ) throws -> Data {
        guard options.metadata == nil, let first = frames.first else {
            return try VipsEncoder().encode(
                frames, timing: timing, as: format, options: options)
        }
        try VipsSaver(.JPEG)?.checkSize(first.size)
        do {
            return try first.withEightBits { pixels in
                try JPEGWriter.write(
                    pixels, width: first.size.width, height: first.size.height,
                    channels: first.channels,
                    options: JPEGWriter.Options(quality: VipsSaver.level(options.quality)))
            }
        } catch DirectCodecError.encodingFailed(let reason) {
            throw ImageCodingError.encodingFailed(.JPEG, reason: reason)
        }
    }
}

extension Bitmap {
    /// Calls `body` with the samples as bytes: of 16 bits the upper eight.
    fileprivate func withEightBits<R>(_ body: (UnsafePointer<UInt8>) throws -> R) rethrows -> R {
        try withUnsafeBytes { bytes in
            if depth == .eight, let base = bytes.baseAddress {
                return try body(base.assumingMemoryBound(to: UInt8.self))
            }
            let count = bytes.count / 2
            return try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { upper in
                for index in 0..<count {
                    let sample = bytes.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)
                    upper.initializeElement(at: index, to: UInt8(sample >> 8))
                }
                return try body(UnsafePointer(upper.baseAddress!))
            }
        }
    }
}
