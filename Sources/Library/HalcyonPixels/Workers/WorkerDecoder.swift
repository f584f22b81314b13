import Foundation

extension ImageDecoder {
    /// Room for the durations of an animation's frames, in bytes.
    private static let roomForHeader = 1 << 20

    /// Decodes files of any format in workers. A worker refuses what it cannot read: finding that out here would
    /// start libvips before the worker.
    ///
    /// - Parameter atOnce: The pictures whose pixels are wanted with the header.
    static func worker(_ atOnce: DecodingAtOnce? = nil) -> ImageDecoder {
        ImageDecoder { _ in
            true
        } open: { data, format, coding in
            let file = WorkerFile(data, format, coding)
            do {
                return try DecodingAtOnce.holding(atOnce) { most in
                    try Self.open(file, pixelsUpTo: most)
                }
            } catch let error as NoWorkers {
                DecodingWorkers.shared.tell(of: error)
                return nil
            }
        }
    }

    private static func open(_ file: WorkerFile, pixelsUpTo most: Int) throws -> OpenedByWorker {
        try DecodingWorkers.shared.ask(.open(pixelsUpTo: most), of: file, room: roomForHeader) {
            answer, region in
            switch answer {
            case .opened(let header, let isHeldWhole, let hasPixels):
                if hasPixels {
                    // The worker is not trusted.
                    guard header.mayBeDecodedAtOnce(upTo: most),
                        header.byteCount <= region.bytes.count
                    else { throw WorkerTrouble.nonsense }
                    file.keep(
                        Bitmap(
                            size: header.size, channels: header.hasAlpha ? 4 : 3,
                            depth: header.depth, storage: region.pixels(count: header.byteCount)))
                }
                return OpenedByWorker(header: header, isHeldWhole: isHeldWhole, file: file)
            case .failure(let error): throw error
            default: throw WorkerTrouble.nonsense
            }
        }
    }
}

/// The pictures that a worker decodes when it opens them, because their pixels are wanted in any case: this saves
/// a request. They are neither large nor animated, and no limit could forbid to decode one of them.
struct DecodingAtOnce {
    /// The most pixels of such a picture.
    let pixelCount: Int
    /// The most bytes that decoding such a picture takes.
    private let memory: Int

    private static let mostPixels = 1 << 21

    /// `nil` if there are none.
    init?(of format: ImageFormat, _ data: Data, _ drawing: SVGDocument?, _ limits: DecodingLimits) {
        guard DecodingIsolation.foreign.covers(format), DecodingIsolation.current.covers(format)
        else { return nil }
        let count = min(Self.mostPixels, limits.maximumPixelCount ?? .max)
        // Bytes for a pixel, the result among them, that no codec of these formats exceeds (`EncodedImage.memory()`).
        let codec = [.AVIF, .HEIC, .JPEGXL].contains(format) ? 64 : 24
        let drawn = drawing?.memory(drawnAt: PixelSize(width: count, height: 1)) ?? 0
        let held = format == .TIFF ? TIFFHeader(data)?.heldBytes ?? 0 : 0
        memory = count.clampedTimes(codec).clampedPlus(drawn).clampedPlus(held)
        pixelCount = count
        if let limit = limits.maximumMemory, memory > limit { return nil }
    }

    /// Calls `body` with the number of pixels up to which a picture may be decoded at once, and holds the memory for it;
    /// 0 if it is not free now.
    static func holding<Result>(
        _ atOnce: DecodingAtOnce?, _ body: (_ pixelCount: Int) throws -> Result
    ) rethrows -> Result {
        let budget = DecodingBudget.shared
        guard let atOnce, budget.takeIfFree(atOnce.memory) else { return try body(0) }
        defer { budget.giveBack(atOnce.memory) }
        return try body(atOnce.pixelCount)
    }
}

extension StoredHeader {
    /// The largest header in bytes, as JSON.
    private static let mostBytes = 1 << 20

    /// Reads a header in a worker; `nil` for files that libvips does not read.
    static func told(_ file: WorkerFile) -> StoredHeader? {
        // Callers have opened the file before, and only show less without a header.
        do {
            return try DecodingWorkers.shared.ask(.tell, of: file, room: mostBytes) {
                answer, region in
                guard case .text(let count) = answer, count <= region.bytes.count
                else { return nil }
                let text = Data(UnsafeRawBufferPointer(rebasing: region.bytes[..<count]))
                return try? JSONDecoder().decode(StoredHeader.self, from: text)
            }
        } catch is NoWorkers {
            return StoredHeader(reading: file.data, file.format)
        } catch {
            return nil
        }
    }
}

struct OpenedByWorker: OpenedImage {
    let header: ImageHeader
    /// Whether decoding holds all pixels twice.
    let isHeldWhole: Bool
    fileprivate let file: WorkerFile

    func decode(frame: Int, _ size: DecodedSize) throws -> DecodedPixels? {
        if size.least(header.size) == header.size, let bitmap = file.takePixels() {
            return .bitmap(bitmap)
        }
        let most: PixelSize
        let fits: (PixelSize) -> Bool
        switch size {
        case .atLeast(let least):
            most = header.size
            let least = least ?? header.size
            fits = { [header] in
                $0.width >= min(least.width, header.size.width)
                    && $0.height >= min(least.height, header.size.height)
                    && $0.width <= header.size.width && $0.height <= header.size.height
            }
        case .exactly(let reduction):
            most = reduction.size
            fits = { $0 == reduction.size }
        }
        return .bitmap(
            try file.pixels(.decode(frame: frame, size), of: header, most: most, where: fits))
    }

    /// Decodes an area, in pixels of the picture at one over `factor` of its size.
    func bitmap(of area: PixelArea, reducedBy factor: Int) throws -> Bitmap {
        try file.pixels(.area(area, reducedBy: factor), of: header, most: area.size) {
            $0 == area.size
        }
    }

    func frameReader() throws -> any FrameReader {
        WorkerFrameReader(header: header, file: file)
    }
}

private struct WorkerFrameReader: FrameReader {
    private(set) var position = 0
    let header: ImageHeader
    let file: WorkerFile

    mutating func frame(_ index: Int) throws -> Bitmap {
        position = index + 1
        return try file.pixels(.play(frame: index), of: header, most: header.size) {
            [header] in $0 == header.size
        }
    }
}

extension WorkerFile {
    /// Decodes pixels in a worker.
    ///
    /// - Parameters:
    ///   - most: The largest size of the result.
    ///   - fits: Tells whether the size of an answer is the requested one.
    fileprivate func pixels(
        _ task: WorkerRequest.Task, of header: ImageHeader, most: PixelSize,
        where fits: (PixelSize) -> Bool
    ) throws -> Bitmap {
        let (count, isTooLarge) = most.pixelCount.multipliedReportingOverflow(
            by: header.bytesPerPixel)
        guard !isTooLarge else {
            throw ImageCodingError.tooManyPixels(most, limit: Int.max / header.bytesPerPixel)
        }
        return try DecodingWorkers.shared.ask(task, of: self, room: count) { answer, region in
            switch answer {
            case .pixels(let size, let channels, let depth):
                // The worker is not trusted.
                guard fits(size), header.hasPixels(channels, depth),
                    size.pixelCount * header.bytesPerPixel <= min(count, region.bytes.count)
                else { throw WorkerTrouble.nonsense }
                let memory = region.pixels(count: size.pixelCount * header.bytesPerPixel)
                return Bitmap(size: size, channels: channels, depth: depth, storage: memory)
            case .failure(let error): throw error
            default: throw WorkerTrouble.nonsense
            }
        }
    }
}
