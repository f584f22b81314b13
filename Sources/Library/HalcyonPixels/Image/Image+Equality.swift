import Foundation

extension Image: Hashable {
    /// Whether two images look the same: equal pixels, scale, and frames with equal times.
    ///
    /// Where they come from does not count: a PNG and a lossless WebP of one picture are equal, if both
    /// have an alpha channel or both have none.
    ///
    /// Compares cheap things first: the object, the size, the times, where the pixels are, the bytes
    /// of the file. Only then it compares pixels: the first frames, which renders them on this
    /// thread if they are not yet, and one further frame after the other until two differ. Images
    /// that cannot be rendered are equal to those of the same file.
    public static func == (lhs: Image, rhs: Image) -> Bool {
        if lhs === rhs { return true }
        guard lhs.scale == rhs.scale, lhs.content.showsTheSame(as: rhs.content) else {
            return false
        }
        return lhs.playback === lhs.content && rhs.playback === rhs.content
            || lhs.playback.showsTheSame(as: rhs.playback)
    }

    /// Feeds the size, the scale, the times of the frames and some of the first frame's pixels, which
    /// are rendered on this thread if they are not yet; further frames are not decoded.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(scale)
        content.hash(into: &hasher)
    }
}

extension PixelContent {
    /// Whether the frames, their times and all their pixels are equal.
    fileprivate func showsTheSame(as other: PixelContent) -> Bool {
        if self === other { return true }
        guard size == other.size, depth == other.depth, timing == other.timing else { return false }
        if let file = undecodedFile, let other = other.undecodedFile, file == other { return true }
        // What cannot be rendered is equal to nothing but itself.
        guard let first = try? bitmap(), let second = try? other.bitmap(),
            first.hasSamePixels(as: second)
        else { return false }
        guard frameCount > 1 else { return true }
        let frames = DecodingFrameSource(self, data: nil)
        let others = DecodingFrameSource(other, data: nil)
        return (1..<frameCount).allSatisfy { index in
            guard let frame = try? frames.bitmap(at: index, longestSide: nil),
                let other = try? others.bitmap(at: index, longestSide: nil)
            else { return false }
            return frame.hasSamePixels(as: other)
        }
    }

    /// The file whose pixels these are, as they are.
    private var undecodedFile: Data? {
        guard isAsDecoded, case .encoded(let encoded) = currentRecipe.start else { return nil }
        return encoded.data
    }

    fileprivate func hash(into hasher: inout Hasher) {
        hasher.combine(size)
        hasher.combine(depth)
        hasher.combine(timing)
        guard let bitmap = try? bitmap() else { return }
        bitmap.withUnsafeBytes { bytes in
            let step = max(16, bytes.count / 64)
            for start in stride(from: 0, to: bytes.count, by: step) {
                let end = min(start + 16, bytes.count)
                hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            }
        }
    }
}

extension Bitmap {
    fileprivate func hasSamePixels(as other: Bitmap) -> Bool {
        guard size == other.size, channels == other.channels, depth == other.depth else {
            return false
        }
        if identity == other.identity { return true }
        return withUnsafeBytes { pixels in
            other.withUnsafeBytes { others in
                memcmp(pixels.baseAddress!, others.baseAddress!, pixels.count) == 0
            }
        }
    }
}
