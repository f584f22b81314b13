import Glibc

/// A request to a worker. The bytes of the file are in the region for input.
struct WorkerRequest {
    enum Task {
        /// Reads the header; of a still picture of so many pixels or fewer, also decodes them, if it can and there is
        /// room for them.
        case open(pixelsUpTo: Int)
        case decode(frame: Int, DecodedSize)
        /// Decodes a frame of an animation, with the reader that decoded the frames before.
        case play(frame: Int)
        /// Decodes an area, in pixels of the picture at one over a power of two of its size.
        case area(PixelArea, reducedBy: Int)
        /// Reads the header as libvips knows it (``StoredHeader``).
        case tell
    }

    static let stopSignal = SIGUSR1
    static let mostBytes = 4096

    var id: UInt64
    var task: Task
    var file: UInt64
    /// The size of the file in bytes; `nil` if the worker should still have it open.
    var byteCount: Int?
    var format: ImageFormat
    var coding: DirectCoding
    /// The time limit in nanoseconds; 0 for none.
    var duration: UInt64
    /// The expected size of the answer in the region for output, in bytes; the largest one where sizes may differ.
    var room: Int

    var bytes: [UInt8] {
        var writer = WireWriter()
        writer.put(
            Int(truncatingIfNeeded: id), Int(truncatingIfNeeded: file), byteCount ?? -1,
            ImageFormat.allCases.firstIndex(of: format) ?? 0, Int(coding.bits))
        writer.put(coding.skipsJPEGCoefficients)
        writer.put(Int(clamping: duration), room)
        switch task {
        case .open(let most): writer.put(1, most)
        case .decode(let frame, .atLeast(nil)): writer.put(2, frame, 0)
        case .decode(let frame, .atLeast(let least?)):
            writer.put(2, frame, 1)
            writer.put(least)
        case .decode(let frame, .exactly(let reduction)):
            writer.put(2, frame, reduction.quality == .best ? 2 : 3)
            writer.put(reduction.size)
        case .play(let frame): writer.put(3, frame)
        case .tell: writer.put(4)
        case .area(let area, let factor):
            writer.put(5, area.left, area.top, factor)
            writer.put(area.size)
        }
        return writer.bytes
    }
}

extension WorkerRequest {
    init?(_ bytes: [UInt8]) {
        var reader = WireReader(bytes)
        guard let id = reader.number(), let file = reader.number(), let count = reader.number(),
            let format = reader.count(), format < ImageFormat.allCases.count,
            let coding = reader.number().flatMap({ UInt8(exactly: $0) }),
            let skips = reader.flag(), let duration = reader.count(), let room = reader.number(),
            let kind = reader.number()
        else { return nil }
        switch kind {
        case 1:
            guard let most = reader.count() else { return nil }
            task = .open(pixelsUpTo: most)
        case 2:
            guard let frame = reader.number(), let size = Self.size(&reader) else { return nil }
            task = .decode(frame: frame, size)
        case 3:
            guard let frame = reader.number() else { return nil }
            task = .play(frame: frame)
        case 4: task = .tell
        case 5:
            guard let left = reader.count(), let top = reader.count(), let factor = reader.count(),
                factor > 0, let size = reader.size()
            else { return nil }
            task = .area(PixelArea(left: left, top: top, size: size), reducedBy: factor)
        default: return nil
        }
        self.id = UInt64(truncatingIfNeeded: id)
        self.file = UInt64(truncatingIfNeeded: file)
        byteCount = count < 0 ? nil : count
        self.format = ImageFormat.allCases[format]
        self.coding = DirectCoding(bits: coding, skipsJPEGCoefficients: skips)
        self.duration = UInt64(duration)
        self.room = room
    }

    private static func size(_ reader: inout WireReader) -> DecodedSize? {
        guard let kind = reader.number() else { return nil }
        if kind == 0 { return .atLeast(nil) }
        guard let size = reader.size() else { return nil }
        switch kind {
        case 1: return .atLeast(size)
        case 2: return .exactly(Reduction(size: size, quality: .best))
        case 3: return .exactly(Reduction(size: size, quality: .fast))
        default: return nil
        }
    }
}

/// An answer of a worker, which is not trusted.
enum WorkerAnswer {
    /// The worker has started. The bits are those of `CWORKER_…`: parts of the sandbox that this system lacks.
    case ready(missing: UInt32)
    /// The header, and whether decoding holds all pixels twice. Durations of frames are in the region for output, in
    /// seconds as 64-bit floating-point numbers, or else the pixels of a still picture that are wanted at once.
    case opened(ImageHeader, isHeldWhole: Bool, hasPixels: Bool)
    /// Pixels at the beginning of the region for output.
    case pixels(PixelSize, channels: Int, depth: Bitmap.Depth)
    /// A text at the beginning of the region for output.
    case text(byteCount: Int)
    case unknownFile
    case failure(ImageCodingError)

    static let mostReason = 1024
    static let mostFrames = 1 << 20

    func bytes(id: UInt64) -> [UInt8] {
        var writer = WireWriter()
        writer.put(Int(truncatingIfNeeded: id))
        switch self {
        case .ready(let missing): writer.put(1, Int(missing))
        case .opened(let header, let isHeldWhole, let hasPixels):
            writer.put(2)
            writer.put(header.size)
            writer.put(header.storedSize ?? header.size)
            writer.put(header.hasAlpha)
            writer.put(header.depth.rawValue, header.frameCount)
            writer.put(header.timing != nil)
            writer.put(max(0, header.timing?.loopCount ?? 0))
            writer.put(isHeldWhole)
            writer.put(hasPixels)
        case .pixels(let size, let channels, let depth):
            writer.put(3)
            writer.put(size)
            writer.put(channels, depth.rawValue)
        case .text(let count): writer.put(4, count)
        case .unknownFile: writer.put(5)
        case .failure(let error):
            writer.put(6)
            error.put(into: &writer)
        }
        return writer.bytes
    }

    /// Reads the answer to the request `id` from a worker that a file may have taken over.
    ///
    /// - Parameters:
    ///   - format: The format of the file.
    ///   - durations: Reads durations of frames from the region for output; `nil` if they do not fit into it.
    /// - Returns: `nil` for a malformed answer.
    init?(
        _ bytes: [UInt8], to id: UInt64, format: ImageFormat,
        durations: (_ count: Int) -> [Double]?
    ) {
        var reader = WireReader(bytes)
        guard reader.number() == Int(truncatingIfNeeded: id), let kind = reader.number() else {
            return nil
        }
        switch kind {
        case 1:
            guard let missing = reader.number().flatMap({ UInt32(exactly: $0) }) else { return nil }
            self = .ready(missing: missing)
        case 2:
            guard let answer = Self.opened(&reader, format, durations) else { return nil }
            self = answer
        case 3:
            guard let size = reader.size(), let channels = reader.number(),
                channels == 3 || channels == 4,
                let depth = reader.number().flatMap({ Bitmap.Depth(rawValue: $0) })
            else { return nil }
            self = .pixels(size, channels: channels, depth: depth)
        case 4:
            guard let count = reader.count(), count <= Int32.max else { return nil }
            self = .text(byteCount: count)
        case 5: self = .unknownFile
        case 6:
            guard let error = ImageCodingError(&reader, format) else { return nil }
            self = .failure(error)
        default: return nil
        }
        guard reader.isAtEnd else { return nil }
    }

    private static func opened(
        _ reader: inout WireReader, _ format: ImageFormat, _ durations: (Int) -> [Double]?
    ) -> WorkerAnswer? {
        guard let size = reader.size(), let stored = reader.size(), let hasAlpha = reader.flag(),
            let depth = reader.number().flatMap({ Bitmap.Depth(rawValue: $0) }),
            let frames = reader.number(), 1...mostFrames ~= frames,
            let isAnimated = reader.flag(), let loops = reader.count(), loops <= UInt32.max,
            let isHeldWhole = reader.flag(), let hasPixels = reader.flag(),
            isAnimated ? !hasPixels : frames == 1
        else { return nil }
        var header = ImageHeader(format: format, size: size, hasAlpha: hasAlpha, depth: depth)
        if stored != size { header.storedSize = stored }
        if isAnimated {
            guard let durations = durations(frames), durations.count == frames,
                durations.allSatisfy({ $0.isFinite && $0 > 0 })
            else { return nil }
            header.timing = AnimationTiming(durations: durations, loopCount: loops)
        }
        return .opened(header, isHeldWhole: isHeldWhole, hasPixels: hasPixels)
    }
}

extension ImageHeader {
    /// Whether a worker may decode the picture when it opens it.
    func mayBeDecodedAtOnce(upTo most: Int) -> Bool {
        timing == nil && max(size.pixelCount, storedSize?.pixelCount ?? 0) <= most
    }

    var byteCount: Int { size.pixelCount.clampedTimes(bytesPerPixel) }

    func hasPixels(_ channels: Int, _ depth: Bitmap.Depth) -> Bool {
        channels == (hasAlpha ? 4 : 3) && depth == self.depth
    }
}

extension ImageCodingError {
    fileprivate func put(into writer: inout WireWriter) {
        func put(_ kind: Int, _ reason: String) {
            writer.put(kind)
            writer.put(reason, atMost: WorkerAnswer.mostReason)
        }
        switch self {
        case .unsupported(_, let reason): put(1, reason)
        case .corrupt(_, let reason): put(2, reason)
        case .tooComplex(_, let reason): put(3, reason)
        case .processing(let reason): put(4, reason)
        case .tooManyPixels(let size, let limit):
            writer.put(5)
            writer.put(size)
            writer.put(limit)
        case .tooManyFrames(let count, let limit): writer.put(6, count, limit)
        case .tooMuchMemory(let needed, let limit): writer.put(7, needed, limit)
        case .tooSlow: writer.put(8)
        case .emptyData, .unknownFormat, .encodingFailed, .decoderStopped: put(4, description)
        }
    }

    fileprivate init?(_ reader: inout WireReader, _ format: ImageFormat) {
        guard let kind = reader.number() else { return nil }
        switch kind {
        case 1...4:
            guard let reason = reader.text() else { return nil }
            self =
                switch kind {
                case 1: .unsupported(format, reason: reason)
                case 2: .corrupt(format, reason: reason)
                case 3: .tooComplex(format, reason: reason)
                default: .processing(reason: reason)
                }
        case 5:
            guard let size = reader.size(), let limit = reader.count() else { return nil }
            self = .tooManyPixels(size, limit: limit)
        case 6, 7:
            guard let count = reader.count(), let limit = reader.count() else { return nil }
            self =
                kind == 6
                ? .tooManyFrames(count, limit: limit)
                : .tooMuchMemory(needed: count, limit: limit)
        case 8: self = .tooSlow(limit: .seconds(30))
        default: return nil
        }
    }
}

/// Writes the fields of a message: little-endian numbers of 64 bits, and texts after their length.
struct WireWriter {
    private(set) var bytes: [UInt8] = []

    mutating func put(_ numbers: Int...) {
        for number in numbers {
            withUnsafeBytes(of: Int64(number).littleEndian) { bytes.append(contentsOf: $0) }
        }
    }

    mutating func put(_ flag: Bool) { put(flag ? 1 : 0) }

    /// As far as a reader takes it: files may claim any size.
    mutating func put(_ size: PixelSize) {
        for length in [size.width, size.height] { put(min(max(length, 1), Int(Int32.max))) }
    }

    mutating func put(_ text: String, atMost limit: Int) {
        let utf8 = text.utf8.prefix(limit)
        put(utf8.count)
        bytes += utf8
    }
}

/// Reads the fields of a message from an untrusted sender.
struct WireReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number() -> Int? {
        guard rest.count >= 8 else { return nil }
        defer { rest = rest.dropFirst(8) }
        return rest.withUnsafeBytes { Int(Int64(littleEndian: $0.loadUnaligned(as: Int64.self))) }
    }

    mutating func flag() -> Bool? {
        switch number() {
        case 0: false
        case 1: true
        default: nil
        }
    }

    /// A size from 1×1 to 2³¹−1 pixels a side.
    mutating func size() -> PixelSize? {
        guard let width = number(), let height = number(), 1...Int(Int32.max) ~= width,
            1...Int(Int32.max) ~= height
        else { return nil }
        return PixelSize(width: width, height: height)
    }

    /// A number that is not negative.
    mutating func count() -> Int? {
        number().flatMap { $0 >= 0 ? $0 : nil }
    }

    mutating func text() -> String? {
        guard let count = count(), rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return String(decoding: rest.prefix(count), as: UTF8.self)
    }
}
