import CCodecs

/// Draws the frames of an animated PNG file one after the other.
///
/// `@unchecked Sendable`: the one reader that owns it is used by one thread at a time.
package final class APNGCanvas: @unchecked Sendable {
    package private(set) var nextFrame = 0

    private let file: APNGFile
    private let channels: Int
    private let isDeep: Bool
    /// The pixels shown: rows without padding, transparent at first.
    private let pixels: UnsafeMutableRawPointer
    private let pixelBytes: Int
    /// The saved area of a frame that will be undone.
    private var saved: [UInt8] = []

    /// - Parameters:
    ///   - channels: 4, or 3 if no pixel is ever transparent.
    ///   - isDeep: Whether samples have 16 bits instead of 8.
    package init(_ file: APNGFile, channels: Int, isDeep: Bool) {
        self.file = file
        self.channels = channels
        self.isDeep = isDeep
        pixelBytes = channels * (isDeep ? 2 : 1)
        let count = file.width * file.height * pixelBytes
        pixels = .allocate(byteCount: count, alignment: 16)
        pixels.initializeMemory(as: UInt8.self, repeating: 0, count: count)
    }

    deinit {
        pixels.deallocate()
    }

    /// Draws the next frame.
    ///
    /// - Parameters:
    ///   - kind: The description of its pixels; their samples have 8 bits.
    ///   - bytes: Those that the file was made of.
    package func drawNext(_ kind: PNGFile, _ bytes: UnsafeRawBufferPointer) throws(CodecRefusal) {
        let frame = file.frames[nextFrame]
        let reader = try PNGReader(
            kind.sized(width: frame.width, height: frame.height), bytes,
            parts: file.parts(of: nextFrame, bytes))
        try drawNext(channels: kind.channels) { take throws(CodecRefusal) in
            try reader.forEachRow { take($0) }
        }
    }

    /// Draws the next frame, of which `rows` hands out the rows from the top.
    ///
    /// - Parameter channels: Of the rows: 3, or 4 with straight alpha where the canvas has as many.
    package func drawNext<Failure: Error>(
        channels frameChannels: Int,
        rows: (_ take: (UnsafeRawPointer) -> Void) throws(Failure) -> Void
    ) throws(Failure) {
        let index = nextFrame
        let frame = file.frames[index]
        if index > 0 { dispose(of: index - 1) }
        if frame.disposal == .previous { save(frame) }
        var y = 0
        try rows { row in
            place(row, at: address(frame, row: y), frame, frameChannels)
            y += 1
        }
        nextFrame += 1
    }

    /// Writes the whole canvas: rows from the top, without padding, straight alpha.
    package func copy(to target: UnsafeMutableRawPointer) {
        target.copyMemory(from: pixels, byteCount: file.width * file.height * pixelBytes)
    }

    /// Where a row of a frame is on the canvas.
    private func address(_ frame: APNGFile.Frame, row: Int) -> UnsafeMutableRawPointer {
        pixels + ((frame.top + row) * file.width + frame.left) * pixelBytes
    }

    private func place(
        _ row: UnsafeRawPointer, at target: UnsafeMutableRawPointer, _ frame: APNGFile.Frame,
        _ frameChannels: Int
    ) {
        let count = frame.width
        if frameChannels < channels {
            (isDeep ? cpng_add_alpha_16 : cpng_add_alpha)(row, target, count)
        } else if frame.isBlended, channels == 4 {
            (isDeep ? cpng_blend_16 : cpng_blend)(row, target, count)
        } else {
            target.copyMemory(from: row, byteCount: count * pixelBytes)
        }
    }

    private func save(_ frame: APNGFile.Frame) {
        let rowBytes = frame.width * pixelBytes
        saved.removeAll(keepingCapacity: true)
        for y in 0..<frame.height {
            saved.append(
                contentsOf: UnsafeRawBufferPointer(
                    start: address(frame, row: y), count: rowBytes))
        }
    }

    private func dispose(of index: Int) {
        let frame = file.frames[index]
        let rowBytes = frame.width * pixelBytes
        if file.clears(index) {
            for y in 0..<frame.height {
                address(frame, row: y).initializeMemory(
                    as: UInt8.self, repeating: 0, count: rowBytes)
            }
        } else if frame.disposal == .previous {
            saved.withUnsafeBytes { bytes in
                for y in 0..<frame.height {
                    address(frame, row: y).copyMemory(
                        from: bytes.baseAddress! + y * rowBytes, byteCount: rowBytes)
                }
            }
        }
    }
}
