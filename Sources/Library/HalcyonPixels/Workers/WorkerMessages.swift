import Glibc

/// A request to a worker. The bytes of the file are in the region for input.
struct WorkerRequest {
    enum Task {
        case open
        case decode(frame: Int, DecodedSize)
        /// Decodes a frame of an animation, with the reader that decoded the frames before.
        case play(frame: Int)
        /// Reads the header as libvips knows it (``StoredHeader``).
        case tell
    }

    /// The signal that cancels the current request.
    static let stopSignal = SIGUSR1
    /// The longest message in bytes.
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
        writer.put(id)
        writer.put(file)
        writer.put(Int64(byteCount ?? -1))
        writer.put(UInt8(ImageFormat.allCases.firstIndex(of: format) ?? 0))
        writer.put(coding.bits)
        writer.put(coding.skipsJPEGCoefficients)
        writer.put(duration)
        writer.put(Int64(room))
        switch task {
        case .open: writer.put(1 as UInt8)
        case .decode(let frame, let size):
            writer.put(2 as UInt8)
            writer.put(Int64(frame))
            switch size {
            case .atLeast(nil): writer.put(0 as UInt8)
            case .atLeast(let least?):
                writer.put(1 as UInt8)
                writer.put(least)
            case .exactly(let reduction):
                writer.put(reduction.quality == .best ? 2 : 3 as UInt8)
                writer.put(reduction.size)
            }
        case .play(let frame):
            writer.put(3 as UInt8)
            writer.put(Int64(frame))
        case .tell: writer.put(4 as UInt8)
        }
        return writer.bytes
    }
}

extension WorkerRequest {
    /// `nil` for a malformed request.
    init?(_ bytes: [UInt8]) {
        var reader = WireReader(bytes)
        guard let id = reader.number(UInt64.self), let file = reader.number(UInt64.self),
            let count = reader.number(Int64.self), let format = reader.number(UInt8.self),
            Int(format) < ImageFormat.allCases.count, let coding = reader.number(UInt8.self),
            let skips = reader.flag(), let duration = reader.number(UInt64.self),
            let room = reader.number(Int64.self), let kind = reader.number(UInt8.self)
        else { return nil }
        switch kind {
        case 1: task = .open
        case 2:
            guard let frame = reader.number(Int64.self), let size = Self.size(&reader) else {
                return nil
            }
            task = .decode(frame: Int(frame), size)
        case 3:
            guard let frame = reader.number(Int64.self) else { return nil }
            task = .play(frame: Int(frame))
        case 4: task = .tell
        default: return nil
        }
        self.id = id
        self.file = file
        byteCount = count < 0 ? nil : Int(count)
        self.format = ImageFormat.allCases[Int(format)]
        self.coding = DirectCoding(bits: coding, skipsJPEGCoefficients: skips)
        self.duration = duration
        self.room = Int(room)
    }

    private static func size(_ reader: inout WireReader) -> DecodedSize? {
        guard let kind = reader.number(UInt8.self) else { return nil }
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
    /// seconds as 64-bit floating-point numbers.
    case opened(ImageHeader, isHeldWhole: Bool)
    /// Pixels at the beginning of the region for output.
    case pixels(PixelSize, channels: Int, depth: Bitmap.Depth)
    /// A text at the beginning of the region for output.
    case text(byteCount: Int)
    /// The worker does not have the file open.
    case unknownFile
    case failure(ImageCodingError)

    /// The length limit of a reason in bytes.
    static let mostReason = 1024
    /// The limit on frames of an animation.
    static let mostFrames = 1 << 20

    func bytes(id: UInt64) -> [UInt8] {
        var writer = WireWriter()
        writer.put(id)
        switch self {
        case .ready(let missing):
            writer.put(1 as UInt8)
            writer.put(missing)
        case .opened(let header, let isHeldWhole):
            writer.put(2 as UInt8)
            writer.put(header.size)
            writer.put(header.storedSize ?? header.size)
            writer.put(header.hasAlpha)
            writer.put(UInt8(header.depth.rawValue))
            writer.put(UInt32(clamping: header.frameCount))
            writer.put(header.timing != nil)
            writer.put(UInt32(clamping: header.timing?.loopCount ?? 0))
            writer.put(isHeldWhole)
        case .pixels(let size, let channels, let depth):
            writer.put(3 as UInt8)
            writer.put(size)
            writer.put(UInt8(channels))
            writer.put(UInt8(depth.rawValue))
        case .text(let count):
            writer.put(4 as UInt8)
            writer.put(Int64(count))
        case .unknownFile: writer.put(5 as UInt8)
        case .failure(let error):
            writer.put(6 as UInt8)
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
        guard reader.number(UInt64.self) == id, let kind = reader.number(UInt8.self) else {
            return nil
        }
        switch kind {
        case 1:
            guard let missing = reader.number(UInt32.self) else { return nil }
            self = .ready(missing: missing)
        case 2:
            guard let answer = Self.opened(&reader, format, durations) else { return nil }
            self = answer
        case 3:
            guard let size = reader.size(), let channels = reader.number(UInt8.self),
                channels == 3 || channels == 4,
                let depth = reader.number(UInt8.self).flatMap({ Bitmap.Depth(rawValue: Int($0)) })
            else { return nil }
            self = .pixels(size, channels: Int(channels), depth: depth)
        case 4:
            guard let count = reader.number(Int64.self), 0...Int64(Int32.max) ~= count else {
                return nil
            }
            self = .text(byteCount: Int(count))
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
            let depth = reader.number(UInt8.self).flatMap({ Bitmap.Depth(rawValue: Int($0)) }),
            let frames = reader.number(UInt32.self).map(Int.init), 1...mostFrames ~= frames,
            let isAnimated = reader.flag(), let loops = reader.number(UInt32.self),
            let isHeldWhole = reader.flag(), isAnimated || frames == 1
        else { return nil }
        var header = ImageHeader(format: format, size: size, hasAlpha: hasAlpha, depth: depth)
        if stored != size { header.storedSize = stored }
        if isAnimated {
            guard let durations = durations(frames), durations.count == frames,
                durations.allSatisfy({ $0.isFinite && $0 > 0 })
            else { return nil }
            header.timing = AnimationTiming(durations: durations, loopCount: Int(loops))
        }
        return .opened(header, isHeldWhole: isHeldWhole)
    }
}

extension ImageCodingError {
    fileprivate func put(into writer: inout WireWriter) {
        func put(_ kind: UInt8, _ reason: String) {
            writer.put(kind)
            writer.put(reason, atMost: WorkerAnswer.mostReason)
        }
        switch self {
        case .unsupported(_, let reason): put(1, reason)
        case .corrupt(_, let reason): put(2, reason)
        case .tooComplex(_, let reason): put(3, reason)
        case .processing(let reason): put(4, reason)
        case .tooManyPixels(let size, let limit):
            writer.put(5 as UInt8)
            writer.put(size)
            writer.put(Int64(limit))
        case .tooManyFrames(let count, let limit):
            writer.put(6 as UInt8)
            writer.put(Int64(count))
            writer.put(Int64(limit))
        case .tooMuchMemory(let needed, let limit):
            writer.put(7 as UInt8)
            writer.put(Int64(needed))
            writer.put(Int64(limit))
        case .tooSlow: writer.put(8 as UInt8)
        case .emptyData, .unknownFormat, .encodingFailed, .decoderStopped: put(4, description)
        }
    }

    fileprivate init?(_ reader: inout WireReader, _ format: ImageFormat) {
        guard let kind = reader.number(UInt8.self) else { return nil }
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

/// Writes the fields of a message: little-endian numbers, and texts after their length.
struct WireWriter {
    private(set) var bytes: [UInt8] = []

    mutating func put(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func put(_ flag: Bool) { put(flag ? 1 : 0 as UInt8) }

    /// As far as a reader takes it: files may claim any size.
    mutating func put(_ size: PixelSize) {
        for length in [size.width, size.height] {
            put(min(max(Int64(length), 1), Int64(Int32.max)))
        }
    }

    /// At most `limit` bytes of it.
    mutating func put(_ text: String, atMost limit: Int) {
        let utf8 = text.utf8.prefix(limit)
        put(UInt16(clamping: utf8.count))
        bytes += utf8.prefix(Int(UInt16.max))
    }
}

/// Reads the fields of a message from an untrusted sender.
struct WireReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number<Number: FixedWidthInteger>(
        _: Number.Type = Number.self
    ) -> Number? {
        let count = MemoryLayout<Number>.size
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(as: Number.self)) }
    }

    mutating func flag() -> Bool? {
        switch number(UInt8.self) {
        case 0: false
        case 1: true
        default: nil
        }
    }

    /// A size from 1×1 to 2³¹−1 pixels a side.
    mutating func size() -> PixelSize? {
        guard let width = number(Int64.self), let height = number(Int64.self),
            1...Int64(Int32.max) ~= width, 1...Int64(Int32.max) ~= height
        else { return nil }
        return PixelSize(width: Int(width), height: Int(height))
    }

    mutating func count() -> Int? {
        guard let number = number(Int64.self), number >= 0 else { return nil }
        return Int(number)
    }

    mutating func text() -> String? {
        guard let count = number(UInt16.self).map(Int.init), rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return String(decoding: rest.prefix(count), as: UTF8.self)
    }
}
