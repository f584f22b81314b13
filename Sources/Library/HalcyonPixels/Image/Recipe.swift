import Foundation
import Vips

/// The recipe of an image's pixels: their source, and the steps applied to each frame.
///
/// A value without pixels of its own: keeping a recipe costs the compressed bytes (or a reference to
/// the bitmap) it starts from. Rendering builds one libvips pipeline and evaluates it once.
struct Recipe: Sendable {
    enum Start: Sendable {
        case encoded(EncodedImage)
        /// Frames in memory, all of one size.
        case frames([Bitmap])
        case source(any ImageFrameSource)
    }

    let start: Start
    private(set) var operations: [ImageOperation] = []
    private(set) var size: PixelSize
    private(set) var hasAlpha: Bool
    let depth: Bitmap.Depth

    init(encoded: EncodedImage) {
        start = .encoded(encoded)
        size = encoded.header.size
        hasAlpha = encoded.header.hasAlpha
        depth = encoded.header.depth
    }

    /// `frames` must not be empty and all of one size.
    init(frames: [Bitmap]) {
        start = .frames(frames)
        size = frames[0].size
        hasAlpha = frames.contains { $0.hasAlpha }
        depth = frames[0].depth
    }

    /// `first` is a frame of `source`, which tells what all of them look like.
    init(source: any ImageFrameSource, first: Bitmap) {
        start = .source(source)
        size = first.size
        hasAlpha = first.hasAlpha
        depth = first.depth
    }

    var isAsDecoded: Bool {
        if case .encoded = start { operations.isEmpty } else { false }
    }

    func appending(_ operation: ImageOperation) -> Recipe {
        var result = self
        result.operations.append(operation)
        result.size = operation.outputSize(for: size)
        result.hasAlpha = operation.outputHasAlpha(for: hasAlpha)
        return result
    }

    /// Decodes frame `index` and applies the steps, on the calling thread.
    func render(frame index: Int) throws -> Bitmap {
        switch start {
        case .frames(let frames):
            return try processed(frames[index])
        case .source(let source):
            return try processed(source.bitmap(at: index))
        case .encoded(let encoded):
            return try encoded.withinLimits(taking: memory) {
                try encoded.checkScans()
                return try render(encoded, frame: index)
            }
        }
    }

    private func render(_ encoded: EncodedImage, frame index: Int) throws -> Bitmap {
        let full = encoded.header.size
        if let bitmap = try renderReduced(encoded, frame: index) { return bitmap }
        let pixels = try encoded.decode(
            frame: index, atLeast: operations.first?.reduction(of: full)?.size)
        do {
            return try rendered(pixels, from: full, with: operations[...])
        } catch let error as VipsError where operations.isEmpty {
            throw error.codingError(encoded.header.format)
        }
    }

    /// Lets the decoder do the first step, if that is to make the picture smaller, or if there is none;
    /// `nil` when it cannot.
    private func renderReduced(_ encoded: EncodedImage, frame index: Int) throws -> Bitmap? {
        let full = encoded.header.size
        let first = operations.first.map { $0.reduction(of: full) }
        guard let reduction = first ?? Reduction(size: full, quality: .best),
            let pixels = try encoded.opened.decode(frame: index, .exactly(reduction))
        else { return nil }
        do {
            return try rendered(pixels, from: reduction.size, with: operations.dropFirst())
        } catch let error as VipsError {
            throw error.codingError(encoded.header.format)
        }
    }

    /// Decodes all frames and applies the steps to each, on the calling thread.
    func renderAllFrames() throws -> [Bitmap] {
        switch start {
        case .frames(let frames):
            return try frames.map(processed)
        case .source(let source):
            return try (0..<source.frameCount).map { try processed(source.bitmap(at: $0)) }
        case .encoded(let encoded):
            return try encoded.decodeAllFrames().map(processed)
        }
    }

    /// Applies the steps to a decoded frame, on the calling thread.
    func processed(_ frame: Bitmap) throws -> Bitmap {
        try rendered(.bitmap(frame), from: frame.size, with: operations[...])
    }

    private func rendered(
        _ pixels: DecodedPixels, from full: PixelSize,
        with operations: ArraySlice<ImageOperation>
    ) throws -> Bitmap {
        if case .bitmap(let bitmap) = pixels, operations.isEmpty { return bitmap }
        var image = try pixels.pipeline()
        var size = full
        do {
            for operation in operations {
                image = try operation.apply(image, size)
                size = operation.outputSize(for: size)
            }
            return try Bitmap(rendering: image)
        } catch let error as VipsError where !operations.isEmpty {
            throw ImageCodingError.processing(reason: error.description)
        }
    }
}

extension Recipe {
    /// Bytes of memory that rendering a frame takes at its height; 0 for what is made of pixels in memory, and
    /// for pictures so small that it does not matter.
    var memory: Int {
        guard case .encoded(let encoded) = start, encoded.isWorthCounting else { return 0 }
        let full = encoded.header.size
        guard !operations.isEmpty else { return encoded.memory() }
        let reduced = operations.first?.reduction(of: full)?.size
        return encoded.memory(passedOnAt: reduced).clampedPlus(memoryOfSteps(encoded.header))
    }

    /// Bytes of memory that rendering all frames takes.
    var memoryOfAllFrames: Int {
        guard case .encoded(let encoded) = start else { return 0 }
        let count = encoded.header.frameCount
        let decoded = encoded.memoryOfAllFrames
        guard !operations.isEmpty else { return decoded }
        let others = memoryOfResult(encoded.header).clampedTimes(count - 1)
        return decoded.clampedPlus(others).clampedPlus(memoryOfSteps(encoded.header))
    }

    private func memoryOfResult(_ header: ImageHeader) -> Int {
        size.pixelCount.clampedTimes(header.bytesPerPixel + 1)
    }

    /// Bytes of memory that the steps take at their height for a frame, the result included. What a step holds
    /// is given up when the next one that holds a picture has made its own.
    private func memoryOfSteps(_ header: ImageHeader) -> Int {
        var (size, hasAlpha) = (header.size, header.hasAlpha)
        var (held, most) = (0, 0)
        for operation in operations {
            let pixels = operation.heldPixels(of: size)
            let givesAlpha = operation.outputHasAlpha(for: hasAlpha)
            if pixels > 0 {
                let channels = hasAlpha || givesAlpha ? 4 : 3
                let bytes = pixels.clampedTimes(channels * header.depth.rawValue / 8)
                most = max(most, held.clampedPlus(bytes))
                held = bytes
            }
            (size, hasAlpha) = (operation.outputSize(for: size), givesAlpha)
        }
        return max(most, held.clampedPlus(memoryOfResult(header)))
    }
}

/// One step of an image's recipe: a change of pixels, described now and done when the image is
/// rendered, together with all other steps, in one libvips pipeline.
///
/// The pipeline's images are sRGB with 3 or 4 bands of 8 or 16 bits and straight alpha; a step must
/// hand on such an image. For an animated image the step is applied to each frame.
struct ImageOperation: Sendable {
    /// The size of the result; `nil` for that of the input.
    var size: PixelSize?
    /// Whether the result has an alpha channel; `nil` if it has one where the input has.
    var hasAlpha: Bool?
    /// The number of pictures of the input's size that it has in memory at once: those that it reads in another
    /// order than from the top.
    var heldPictures = 0
    /// For a step that is nothing but a change of the size: how well a file is decoded at that size.
    var quality: DownsamplingQuality?
    /// Adds this step to the pipeline of `image`. `input` is the size that `outputSize(for:)` was asked with;
    /// after a reduced decode `image` may be smaller than that.
    let apply: @Sendable (_ image: VipsImage, _ input: PixelSize) throws -> VipsImage

    func outputSize(for input: PixelSize) -> PixelSize { size ?? input }

    func outputHasAlpha(for input: Bool) -> Bool { hasAlpha ?? input }

    /// The largest number of pixels that it has in memory at once.
    func heldPixels(of input: PixelSize) -> Int { input.pixelCount.clampedTimes(heldPictures) }

    /// When this step comes first and is nothing but a change to a smaller size: that size, so that a decoder can
    /// deliver it and the step be left out, or deliver somewhat more.
    func reduction(of source: PixelSize) -> Reduction? {
        guard let size, let quality, size.width < source.width, size.height < source.height else {
            return nil
        }
        return Reduction(size: size, quality: quality)
    }
}

extension Image {
    func changing(
        to size: PixelSize? = nil, hasAlpha: Bool? = nil, holdsPixels: Bool = false,
        _ change: @escaping @Sendable (_ image: VipsImage, _ input: PixelSize) throws -> VipsImage
    ) -> Image {
        applying(
            ImageOperation(
                size: size, hasAlpha: hasAlpha, heldPictures: holdsPixels ? 1 : 0, apply: change))
    }
}
