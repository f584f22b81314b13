/// Draws the frames of an animation one after the other onto a canvas of its own. Used by one thread.
package protocol AnimationCanvas: AnyObject, Sendable {
    /// Draws the next frame and writes the whole canvas: rows from the top, without padding.
    ///
    /// - Parameters:
    ///   - pixels: Room for `width × height × channels` samples.
    ///   - channels: 4 for RGBA with straight alpha, 3 for RGB.
    func next(into pixels: UnsafeMutablePointer<UInt8>, channels: Int) throws

    /// Draws the next frame, without output, for those behind it.
    func skip() throws
}
