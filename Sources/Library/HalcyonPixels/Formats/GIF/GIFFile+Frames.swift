import DirectCodecs
import Foundation

extension GIFFile {
    /// The most frames that libvips reads.
    static let mostFrames = 4096

    init(_ data: Data) {
        self = data.withUnsafeBytes { GIFFile($0) }
    }

    var canvas: PixelSize { PixelSize(width: width, height: height) }

    /// When the frames of an animation are shown; `nil` for a single one.
    var timing: AnimationTiming? {
        AnimationTiming(
            stored: frames.map { TimeInterval($0.control.delay) / 100 }, loopCount: loopCount)
    }

    /// Throws for a file that is cut short within its first frame, or has too many frames.
    func check() throws(ImageCodingError) {
        guard isReadable else {
            throw .corrupt(.GIF, reason: "its blocks do not reach the trailer")
        }
        try checkFrameCount()
    }

    /// Throws when there are more frames than are read, because the rest would be dropped silently.
    func checkFrameCount() throws(ImageCodingError) {
        guard frames.count <= Self.mostFrames else {
            throw .tooManyFrames(frames.count, limit: Self.mostFrames)
        }
    }

    /// Whether the compressed pixels of a frame are valid and enough.
    func isIntact(frame index: Int, in data: Data) -> Bool {
        data.withUnsafeBytes { frames[index].image.isIntact(in: $0) }
    }

    /// The index of the first frame up to `last` whose compressed pixels are invalid or too few.
    func firstDamagedFrame(upTo last: Int, in data: Data) -> Int? {
        frames.indices.prefix(last + 1).first { !isIntact(frame: $0, in: data) }
    }
}
