/// What a GIF file says of its frames, as far as pixels depend on it.
package struct GIFFile {
    /// What happens to a frame's area before the next frame is drawn.
    enum Disposal {
        case keep
        case background
        case previous
    }

    struct Frame {
        let image: GIFBlocks.Picture
        let transparentIndex: UInt8?
        let disposal: Disposal
    }

    package let width: Int
    package let height: Int
    package var frameCount: Int { frames.count }
    private(set) var frames: [Frame] = []
    /// Where the colour table of all frames that have none is.
    let palette: Range<Int>?
    /// The colour of areas that are cleared, as an index of ``palette``.
    let backgroundIndex: UInt8

    /// Walks the blocks of a file whose canvas is known.
    ///
    /// - Parameters:
    ///   - width: Of the canvas: decoders let the first frame enlarge what the header says.
    ///   - frameCount: The frames that are expected; others are not looked at.
    package init(
        _ bytes: UnsafeRawBufferPointer, width: Int, height: Int, frameCount: Int
    ) throws(CodecRefusal) {
        guard bytes.count > 13, width > 0, height > 0, var blocks = GIFBlocks(bytes),
            blocks.palette?.upperBound ?? 0 <= bytes.count
        else { throw .damaged("it is cut short") }
        self.width = width
        self.height = height
        palette = blocks.palette
        backgroundIndex = blocks.backgroundIndex

        var disposal = Disposal.keep
        var transparentIndex: UInt8?
        while frames.count < frameCount {
            switch blocks.next() {
            case .control(let control):
                guard control.length == 4 else {
                    throw .unusual("a frame has an unusual extension")
                }
                disposal = control.disposal
                if control.isPartlyTransparent { transparentIndex = control.transparentIndex }
            case .other, .padding:
                break
            case .image(let image):
                guard bytes[image.dataOffset] <= 8 else {
                    throw .unusual("it has more than 256 colours")
                }
                // Larger ones would take memory for pixels that are never seen.
                guard image.width <= width, image.height <= height else {
                    throw .unusual("a frame is larger than the canvas")
                }
                frames.append(
                    Frame(image: image, transparentIndex: transparentIndex, disposal: disposal))
                (disposal, transparentIndex) = (.keep, nil)
            case .trailer, .unknown:
                throw .damaged("it has an unknown block")
            case nil:
                throw .damaged("it is cut short")
            }
        }
    }
}

extension GIFBlocks.Control {
    fileprivate var disposal: GIFFile.Disposal {
        if isTakenBack { return .previous }
        return flags >> 2 & 7 == 2 ? .background : .keep
    }
}
