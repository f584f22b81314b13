import Foundation
import Synchronization
import Vips

/// The frames of an image, decoded and processed when they are asked for.
///
/// In order, each frame is decoded once; a step back starts again at the first frame. Readers are taken
/// out while they work, so nobody waits for another caller's frame.
final class DecodingFrameSource: ImageFrameSource {
    let data: Data?

    private let content: PixelContent
    private let openReader: @Sendable () throws -> (any FrameReader)?
    private let idle = Mutex(IdleFrameReaders())

    /// - Parameter data: The bytes of the file the content was made of.
    convenience init(_ content: PixelContent, data: Data?) {
        self.init(content, data: data) {
            guard case .encoded(let encoded) = content.currentRecipe.start else { return nil }
            return try encoded.frameReader()
        }
    }

    /// - Parameter openReader: Makes a reader of the content's undecoded frames; `nil` when there is
    ///   nothing to read.
    init(
        _ content: PixelContent, data: Data?,
        openReader: @escaping @Sendable () throws -> (any FrameReader)?
    ) {
        self.content = content
        self.data = data
        self.openReader = openReader
    }

    var frameCount: Int { content.frameCount }

    func duration(at index: Int) -> TimeInterval {
        guard let durations = content.timing?.durations, durations.indices.contains(index) else {
            return .infinity
        }
        return durations[index]
    }

    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
        // A frame that cannot be had is shown as the one before it: the protocol knows no reasons.
        try? bitmap(at: index, longestSide: Self.longestSide(maxSize))
    }

    func copy() -> DecodingFrameSource {
        DecodingFrameSource(content, data: data, openReader: openReader)
    }

    func bitmap(at index: Int, longestSide: Int?) throws -> Bitmap {
        guard index >= 0, index < frameCount else {
            throw ImageCodingError.processing(reason: "there is no frame \(index)")
        }
        let recipe = content.currentRecipe
        let frame: Bitmap
        if let ready = content.ready(index) {
            frame = ready
        } else if case .source(let source) = recipe.start {
            frame = try processed(source, index, longestSide: longestSide, recipe: recipe)
        } else if let decoded = try read(index) {
            frame = try recipe.processed(decoded)
        } else {
            frame = try content.bitmap(frame: index)
        }
        return try frame.fitting(longestSide: longestSide)
    }

    private func processed(
        _ source: any ImageFrameSource, _ index: Int, longestSide: Int?, recipe: Recipe
    ) throws -> Bitmap {
        // Steps are meant for frames of the full size.
        guard let side = longestSide, recipe.operations.isEmpty else {
            return try recipe.render(frame: index)
        }
        guard let frame = source.frame(at: index, maxSize: CGSize(width: side, height: side)) else {
            throw ImageCodingError.processing(reason: "the frame source has no frame \(index)")
        }
        return frame
    }

    private func read(_ index: Int) throws -> Bitmap? {
        guard case .encoded(let encoded) = content.currentRecipe.start else {
            return try readFrame(index)
        }
        return try encoded.withinLimits(taking: encoded.memory()) { try readFrame(index) }
    }

    private func readFrame(_ index: Int) throws -> Bitmap? {
        let waiting = idle.withLock { $0.take(for: index) }
        guard var reader = try waiting ?? openReader() else { return nil }
        let bitmap = try reader.frame(index)
        let used = reader
        idle.withLock { $0.put(used) }
        return bitmap
    }

    private static func longestSide(_ maxSize: CGSize?) -> Int? {
        guard let maxSize, maxSize.width > 0 || maxSize.height > 0 else { return nil }
        return PixelSize.length(max(maxSize.width, maxSize.height))
    }
}

extension PixelSize {
    /// The largest size of the same shape, not above this one, without a side above `longest`.
    func fitting(longestSide longest: Int?) -> PixelSize {
        guard let longest, longestSide > longest else { return self }
        let scale = CGFloat(longest) / CGFloat(longestSide)
        return PixelSize(
            width: Self.length(CGFloat(width) * scale), height: Self.length(CGFloat(height) * scale)
        )
    }
}

extension Bitmap {
    /// These pixels, made smaller if a side is above `longest`.
    func fitting(longestSide longest: Int?) throws -> Bitmap {
        let target = size.fitting(longestSide: longest)
        guard target != size else { return self }
        do {
            return try Bitmap(
                rendering: vipsImage().resized(to: target.width, height: target.height))
        } catch let error as VipsError {
            throw ImageCodingError.processing(reason: error.description)
        }
    }
}

/// The readers of one animation that nobody uses at the moment, each somewhere in the file.
///
/// Decides which one goes on: players at different places each keep theirs, as far as the limit goes.
struct IdleFrameReaders {
    /// Readers kept at most; each holds a canvas or two.
    let limit: Int
    /// The one used last comes last.
    private(set) var readers: [any FrameReader] = []

    init(limit: Int = 2) {
        self.limit = limit
    }

    /// Takes out the reader with the shortest way to frame `index`; `nil` when all are beyond it.
    mutating func take(for index: Int) -> (any FrameReader)? {
        let best = readers.indices
            .filter { readers[$0].position <= index }
            .max { readers[$0].position < readers[$1].position }
        return best.map { readers.remove(at: $0) }
    }

    /// Puts a reader back; the one that was not used for longest makes room.
    mutating func put(_ reader: any FrameReader) {
        readers.append(reader)
        if readers.count > limit { readers.removeFirst() }
    }
}

extension EncodedImage {
    func frameReader() throws -> any FrameReader {
        header.timing == nil ? SeparateFrameReader(encoded: self) : try opened.frameReader()
    }
}

/// Decodes a still image as the one frame that it has.
struct SeparateFrameReader: FrameReader {
    let encoded: EncodedImage

    var position: Int { 0 }

    func frame(_ index: Int) throws -> Bitmap {
        try Recipe(encoded: encoded).render(frame: index)
    }
}
