import CCodecs

extension AVIFFile {
    private static let stripHeight = 64

    /// Decodes the next frame and writes the part of it that is shown in a smaller size, not turned yet:
    /// rows without padding, of ``channels`` and ``deliveredDepth``, straight opacity.
    ///
    /// The picture never exists as RGB in its full size: without opacity the planes are resampled, and colours
    /// are converted last; else the rows of a strip after the other are.
    ///
    /// - Parameters:
    ///   - pixels: Room for `width × height` pixels.
    ///   - width: At most that of the part that is shown; so is `height`.
    package func next(
        into pixels: UnsafeMutableRawPointer, width: Int, height: Int
    ) throws(CodecRefusal) {
        let image = try nextImage()
        if !hasAlpha, let planes = AVIFPlanes(image, shown) {
            try planes.reduce(into: pixels, width: width, height: height)
        } else {
            try reduceStrips(of: image, into: pixels, width: width, height: height)
        }
    }

    private var shown: Transforms.Crop {
        transforms.crop
            ?? Transforms.Crop(left: 0, top: 0, width: self.width, height: self.height)
    }

    private func reduceStrips(
        of image: avifImage, into pixels: UnsafeMutableRawPointer, width: Int, height: Int
    ) throws(CodecRefusal) {
        let shown = shown
        let reducer = PixelReducer(
            source: (shown.width, shown.height), width: width, height: height,
            channels: channels, depth: deliveredDepth, into: pixels)
        let bytesPerPixel = channels * deliveredDepth / 8
        // Chroma between two rows is made of both: those beside a strip are converted with it.
        let room = UnsafeMutableRawPointer.allocate(
            byteCount: (Self.stripHeight + 4) * self.width * bytesPerPixel, alignment: 16)
        defer { room.deallocate() }
        let bottom = shown.top + shown.height
        for top in stride(from: shown.top / 2 * 2, to: bottom, by: Self.stripHeight) {
            let end = min(top + Self.stripHeight, bottom)
            let rows = max(0, top - 2)..<min(end + 2, self.height)
            try convert(image.rows(rows), into: room)
            guard !cdecoding_is_late() else { throw .damaged("it takes too long") }
            for row in max(top, shown.top)..<end {
                let place = (row - rows.lowerBound) * self.width + shown.left
                reducer.push(room + place * bytesPerPixel)
            }
        }
    }
}

extension avifImage {
    /// Some rows, from an even one on. Their samples belong to this.
    fileprivate func rows(_ rows: Range<Int>) -> avifImage {
        var part = self
        part.height = UInt32(rows.count)
        let first = rows.lowerBound
        let chroma = yuvFormat == AVIF_PIXEL_FORMAT_YUV420 ? first / 2 : first
        part.yuvPlanes.0 = yuvPlanes.0.map { $0 + first * Int(yuvRowBytes.0) }
        part.yuvPlanes.1 = yuvPlanes.1.map { $0 + chroma * Int(yuvRowBytes.1) }
        part.yuvPlanes.2 = yuvPlanes.2.map { $0 + chroma * Int(yuvRowBytes.2) }
        part.alphaPlane = alphaPlane.map { $0 + first * Int(alphaRowBytes) }
        return part
    }
}
