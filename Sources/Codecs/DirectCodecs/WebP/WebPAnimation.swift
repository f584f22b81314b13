import CCodecs

/// Draws the frames of an animated WebP file one after the other with libwebp's own animation decoder:
/// libvips makes a picture of each frame, blends it into another and copies that, and does so for the
/// whole strip before the first frame can be had.
///
/// `@unchecked Sendable`: the one reader that owns it is used by one thread at a time.
package final class WebPAnimation: AnimationCanvas, @unchecked Sendable {
    /// Width and height of the canvas.
    package let width: Int
    package let height: Int
    private let decoder: OpaquePointer
    private let owner: AnyObject

    /// - Parameters:
    ///   - bytes: A whole file.
    ///   - owner: Keeps `bytes` where they are; kept as long as this.
    package init(_ bytes: UnsafeRawBufferPointer, owner: AnyObject) throws(CodecRefusal) {
        var file = WebPData(
            bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), size: bytes.count)
        guard let decoder = WebPAnimDecoderNew(&file, nil) else {
            throw .damaged("its frames cannot be told apart")
        }
        var info = WebPAnimInfo()
        guard WebPAnimDecoderGetInfo(decoder, &info) != 0 else {
            WebPAnimDecoderDelete(decoder)
            throw .damaged("it has no canvas")
        }
        self.decoder = decoder
        self.owner = owner
        width = Int(info.canvas_width)
        height = Int(info.canvas_height)
    }

    package func next(
        into pixels: UnsafeMutablePointer<UInt8>, channels: Int
    ) throws(CodecRefusal) {
        let canvas = try draw()
        if channels == 4 {
            pixels.update(from: canvas, count: width * height * 4)
        } else {
            cpng_drop_alpha(canvas, pixels, width * height)
        }
    }

    package func skip() throws(CodecRefusal) {
        _ = try draw()
    }

    private func draw() throws(CodecRefusal) -> UnsafePointer<UInt8> {
        guard !cdecoding_is_late() else { throw .damaged("it takes too long") }
        var canvas: UnsafeMutablePointer<UInt8>?
        var timestamp: Int32 = 0
        guard WebPAnimDecoderGetNext(decoder, &canvas, &timestamp) != 0, let canvas else {
            throw .damaged("the pixels of a frame are damaged")
        }
        return UnsafePointer(canvas)
    }

    deinit {
        WebPAnimDecoderDelete(decoder)
    }
}
