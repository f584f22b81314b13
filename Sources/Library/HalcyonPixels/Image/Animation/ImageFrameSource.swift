public import Foundation

/// Where the frames of an animation come from, one at a time.
///
/// All frames have one size, channel count and depth. Calls may come from any thread, and block while
/// a frame is decoded. Sources whose frames build on earlier ones should make asking in order cheap.
public protocol ImageFrameSource: Sendable {
    /// The bytes of the file that the frames are in; `nil` when there is none.
    var data: Data? { get }

    /// The number of frames; at least 1.
    var frameCount: Int { get }

    /// The pixels of a frame, or `nil` when there are none for this index.
    ///
    /// - Parameters:
    ///   - index: From 0.
    ///   - maxSize: A size in pixels; the frame's longest side should not be longer than that of
    ///     `maxSize`. `nil` and zero mean the full size. Frames are never enlarged.
    func frame(at index: Int, maxSize: CGSize?) -> Bitmap?

    /// Seconds that a frame is shown; infinity when it is not known.
    func duration(at index: Int) -> TimeInterval

    /// A source of the same frames for another reader, so that both may ask in order without
    /// disturbing each other.
    func copy() -> Self
}

extension ImageFrameSource {
    /// The pixels of a frame at the full size.
    public func frame(at index: Int) -> Bitmap? {
        frame(at: index, maxSize: nil)
    }

    public func copy() -> Self { self }

    /// The pixels of a frame at the full size.
    func bitmap(at index: Int) throws(ImageCodingError) -> Bitmap {
        guard let bitmap = frame(at: index) else {
            throw .processing(reason: "the frame source has no frame \(index)")
        }
        return bitmap
    }
}
