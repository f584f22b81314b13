import CCodecs
import CProcesses
import DirectCodecs
import Foundation
import Glibc
import HalcyonWork
import Vips

/// The side of workers, which take requests from their socket, one at a time; and of their template, which forks them.
enum WorkerService {
    /// Readable folders: libraries, fonts, and their configuration.
    private static var readable: [String] {
        let environment = ProcessInfo.processInfo.environment
        let home = environment["HOME"]
        let own = environment["LD_LIBRARY_PATH"]?.split(separator: ":").map(String.init) ?? []
        return [
            "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/share", "/usr/local/lib",
            "/usr/local/share", "/lib", "/lib64", "/etc/fonts", "/etc/ld.so.cache",
            "/var/cache/fontconfig", "/sys/devices/system/cpu", "/proc/self", "/dev/null",
            "/dev/urandom",
        ]
            + [".fonts", ".local/share/fonts", ".cache/fontconfig", ".config/fontconfig"]
            .compactMap { folder in home.map { "\($0)/\(folder)" } } + own
    }

    /// Becomes the template, and in the processes that it forks a worker; both end when their socket is closed.
    static func run(parent: pid_t, memory: UInt64) -> Never {
        guard cworker_begin(parent) else { exit(1) }
        var type: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard
            getsockopt(
                Int32(CWORKER_SOCKET), SOL_SOCKET, SO_TYPE, &type, &length) == 0
        else {
            let words = "This is started by programs that decode pictures, not by hand.\n"
            _ = write(2, words, words.utf8.count)
            exit(64)
        }
        var missing = withCStrings(readable) { folders in
            folders.withMemoryRebound(to: UnsafePointer<CChar>?.self, capacity: readable.count + 1)
            {
                cworker_confine_files($0, readable.count)
            }
        }
        let opensFiles = missing & UInt32(CWORKER_FILES) == 0
        OpenedByVips.keepsImages = true
        loadLibraries()
        missing |= cworker_confine_template()
        let ready = WorkerAnswer.ready(missing: missing).bytes(id: 0)
        guard cworker_send(Int32(CWORKER_SOCKET), ready, ready.count) == ready.count else {
            _exit(1)
        }
        cworker_fork_on_request(parent)
        // In a worker.
        let bench = Bench(
            SharedRegion(file: Int32(CWORKER_INPUT)), SharedRegion(file: Int32(CWORKER_OUTPUT)))
        if !opensFiles { loadFonts() }
        missing |= cworker_confine_worker(memory, opensFiles)
        bench.send(.ready(missing: missing), to: 0)
        bench.serve()
    }

    /// Loads the libraries that cannot be loaded inside the sandbox. None of them may start a thread: this process forks.
    private static func loadLibraries() {
        Vips.startWithoutModules()
        for module in ["heif", "jxl", "poppler"] { cworker_load_vips_module(module) }
        _ = AVIFFile.isAvailable
        _ = JPEGXLFile.isAvailable
        // Whether it can be read is found out by who asks.
        _ = try? ImageDecoder.openSmallHEIC()
        // Requests for the most usual headers: libraries and Swift's runtime make tables for the first ones.
        guard let input = SharedRegion(), let output = SharedRegion() else { return }
        let bench = Bench(input, output)
        let drawing = "<svg xmlns='http://www.w3.org/2000/svg' width='1' height='1'/>"
        bench.warmUp(.SVG, Data(drawing.utf8))
        if let file = Data(base64Encoded: smallTIFF) { bench.warmUp(.TIFF, file) }
    }

    /// A grey pixel.
    private static let smallTIFF = """
        SUkqAAgAAAAJAAABAwABAAAAAQAAAAEBAwABAAAAAQAAAAIBAwABAAAACAAAAAMBAwABAAAAAQAAAAYBAwABAAAAAQAAABEBBAAB\
        AAAAegAAABUBAwABAAAAAQAAABYBAwABAAAAAQAAABcBBAABAAAAAQAAAAAAAACA
        """

    /// Loads fonts, for workers that may open no file later on.
    private static func loadFonts() {
        let text = """
            <svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text y="8">a</text></svg>
            """
        // Whether it can be read is found out by who asks.
        if let image = try? VipsLoader.of(.SVG).open(Data(text.utf8)) {
            _ = try? image.rendered()
        }
    }

    /// The regions and the open file. Used by the main thread only.
    private final class Bench {
        private let socket = Int32(CWORKER_SOCKET)
        private let input: SharedRegion
        private let output: SharedRegion
        /// The bytes are those of the region for input, not a copy.
        private var file: OpenFile?

        /// Milliseconds without a request before unused memory is released.
        private static let idleTime: Int32 = 500

        init(_ input: SharedRegion, _ output: SharedRegion) {
            self.input = input
            self.output = output
        }

        /// Reads the header of a file as a request for it would have it read.
        func warmUp(_ format: ImageFormat, _ data: Data) {
            let request = WorkerRequest(
                id: 0, task: .open(pixelsUpTo: 0), file: UInt64(data.count),
                byteCount: data.count, format: format, coding: .current, duration: 0, room: 1)
            guard input.write(data), let asked = WorkerRequest(request.bytes) else { return }
            _ = answer(asked).bytes(id: asked.id)
            file = nil
        }

        func send(_ answer: WorkerAnswer, to id: UInt64) {
            let bytes = answer.bytes(id: id)
            if cworker_send(socket, bytes, bytes.count) < 0 { _exit(0) }
        }

        /// Answers requests until the socket is closed.
        func serve() -> Never {
            let stop = cdecoding_stop_by_signal(WorkerRequest.stopSignal)
            cdecoding_thread().pointee.stop = stop
            var bytes = [UInt8](repeating: 0, count: WorkerRequest.mostBytes)
            while true {
                if cworker_wait(socket, Self.idleTime) == 0 {
                    file?.dropImage()
                    Vips.endJob()
                    cworker_trim()
                }
                let count = cworker_receive(socket, &bytes, bytes.count, true)
                guard count > 0 else { _exit(0) }
                guard let asked = WorkerRequest(Array(bytes.prefix(min(count, bytes.count))))
                else { _exit(1) }
                if let stop { cdecoding_take_back_stop(stop) }
                send(answer(asked), to: asked.id)
            }
        }

        private func answer(_ asked: WorkerRequest) -> WorkerAnswer {
            if asked.duration > 0 { cworker_allow_seconds(asked.duration / 1_000_000_000) }
            // Who asks ends this process when a library takes longer.
            if asked.duration > 0 {
                cdecoding_thread().pointee.deadline = cdecoding_now() + asked.duration
            }
            defer { cdecoding_thread().pointee.deadline = 0 }
            do {
                return try made(asked)
            } catch  where asked.duration > 0 && cdecoding_is_late() {
                return .failure(.tooSlow(limit: .nanoseconds(Int64(clamping: asked.duration))))
            } catch let error as ImageCodingError {
                return .failure(error)
            } catch let error as VipsError {
                return .failure(error.codingError(asked.format))
            } catch {
                return .failure(.processing(reason: "\(error)"))
            }
        }

        private func made(_ asked: WorkerRequest) throws -> WorkerAnswer {
            guard output.follow(asked.room) else {
                throw ImageCodingError.processing(reason: "there is no memory for its pixels")
            }
            if case .tell = asked.task {
                // Files that no decoder opens may still have a header.
                guard let data = try bytes(of: asked) else { return .unknownFile }
                let text = try text(asked, of: data)
                output.bytes.copyBytes(from: text)
                return .text(byteCount: text.count)
            }
            guard try open(asked), var file else { return .unknownFile }
            switch asked.task {
            case .open(let most):
                let header = file.opened.header
                if let durations = header.timing?.durations {
                    guard durations.count * 8 <= output.bytes.count else {
                        throw ImageCodingError.tooManyFrames(
                            durations.count, limit: output.bytes.count / 8)
                    }
                    durations.withUnsafeBytes { output.bytes.copyMemory(from: $0) }
                }
                return .opened(
                    header, isHeldWhole: file.isHeldWhole,
                    hasPixels: header.mayBeDecodedAtOnce(upTo: most)
                        && decodesAtOnce(file, in: asked.duration))
            case .decode(let frame, let size):
                return try decode(file, frame: frame, size, room: asked.room)
            case .play(let frame):
                defer { self.file = file }
                return try put(file.play(frame))
            case .area(let area, let factor):
                return try put(file.bitmap(of: area, reducedBy: factor))
            case .tell:
                return .unknownFile
            }
        }

        /// The part of its time, as a divisor, that a picture may take to be decoded when it is opened. All of it is left
        /// for the request that comes if that fails.
        private static let partAtOnce: UInt64 = 4

        /// Whether the region for output now holds the pixels of a still picture. Failures are told when the pixels are
        /// requested again.
        private func decodesAtOnce(_ file: OpenFile, in duration: UInt64) -> Bool {
            let header = file.opened.header
            guard output.follow(header.byteCount) else { return false }
            let deadline = cdecoding_thread().pointee.deadline
            defer { cdecoding_thread().pointee.deadline = deadline }
            if duration > 0 {
                cdecoding_thread().pointee.deadline =
                    min(deadline, cdecoding_now() + duration / Self.partAtOnce)
            }
            let full = DecodedSize.exactly(Reduction(size: header.size, quality: .best))
            let answer = try? decode(file, frame: 0, full, room: header.byteCount)
            guard case .pixels(let size, let channels, let depth)? = answer else { return false }
            return size == header.size && header.hasPixels(channels, depth)
        }

        /// Decodes into the region for output, directly where the pixels take just `room` bytes.
        private func decode(
            _ file: OpenFile, frame: Int, _ size: DecodedSize, room: Int
        ) throws -> WorkerAnswer {
            let room = UnsafeMutableRawBufferPointer(rebasing: output.bytes[..<room])
            return try PixelMemory.lending(room) { try put(file.decode(frame: frame, size)) }
        }

        private func text(_ asked: WorkerRequest, of data: Data) throws -> Data {
            let header = StoredHeader(reading: data, asked.format)
            let text = try header.map { try JSONEncoder().encode($0) } ?? Data()
            guard text.count <= output.bytes.count else {
                throw ImageCodingError.processing(reason: "its header is too long")
            }
            return text
        }

        private func put(_ bitmap: Bitmap) throws -> WorkerAnswer {
            guard bitmap.byteCount <= output.bytes.count else {
                throw ImageCodingError.processing(reason: "it is larger than was asked for")
            }
            bitmap.withUnsafeBytes { bytes in
                if bytes.baseAddress != UnsafeRawPointer(output.bytes.baseAddress) {
                    output.bytes.copyMemory(from: bytes)
                }
            }
            return .pixels(bitmap.size, channels: bitmap.channels, depth: bitmap.depth)
        }

        /// Opens the requested file, unless it is open.
        ///
        /// - Returns: False without the bytes of the file.
        private func open(_ asked: WorkerRequest) throws -> Bool {
            guard let data = try bytes(of: asked) else { return false }
            if file == nil { file = try OpenFile(asked, data) }
            return true
        }

        /// The bytes of the requested file; `nil` if they are missing. Closes another file.
        private func bytes(of asked: WorkerRequest) throws -> Data? {
            if let file, file.name == asked.file {
                Self.tryOut(asked, file.data)
                return file.data
            }
            guard let count = asked.byteCount else { return nil }
            file = nil
            guard input.follow(count), let start = input.bytes.baseAddress else {
                throw ImageCodingError.processing(reason: "there is no memory for its bytes")
            }
            let data = Data(bytesNoCopy: start, count: count, deallocator: .none)
            Self.tryOut(asked, data)
            return data
        }

        private static func tryOut(_ asked: WorkerRequest, _ data: Data) {
            guard let trial = DecodingWorker.beforeDecoding else { return }
            var isOpening = false
            if case .open = asked.task { isOpening = true }
            trial(DecodingWorkerTrial(data: data, id: asked.id, isOpening: isOpening))
        }
    }

    private struct OpenFile {
        let name: UInt64
        let data: Data
        let opened: any OpenedImage
        private var reader: (any FrameReader)?

        init(_ asked: WorkerRequest, _ data: Data) throws {
            name = asked.file
            self.data = data
            opened = try ImageDecoders.open(data, format: asked.format, coding: asked.coding)
        }

        var isHeldWhole: Bool { (opened as? OpenedByVips)?.isHeldWhole ?? false }

        func dropImage() { (opened as? OpenedByVips)?.dropImage() }

        func decode(frame: Int, _ size: DecodedSize) throws -> Bitmap {
            let full = opened.header.size
            guard case .exactly(let reduction) = size else {
                return try ImageDecoders.decode(
                    opened, of: data, frame: frame, atLeast: size.least(full)
                ).bitmap()
            }
            if let pixels = try opened.decode(frame: frame, size) { return try pixels.bitmap() }
            let operation = ImageOperation.resizing(to: reduction.size, quality: reduction.quality)
            let pixels = try ImageDecoders.decode(
                opened, of: data, frame: frame, atLeast: operation.reduction(of: full)?.size)
            guard reduction.size != full else { return try pixels.bitmap() }
            return try Bitmap(rendering: operation.apply(pixels.pipeline(), full))
        }

        func bitmap(of area: PixelArea, reducedBy factor: Int) throws -> Bitmap {
            let file = (opened as? OpenedByVips) ?? OpenedByVips(data, header: opened.header)
            return try file.bitmap(of: area, reducedBy: factor)
        }

        mutating func play(_ frame: Int) throws -> Bitmap {
            // Readers go on, and never back.
            if reader == nil || reader!.position > frame { reader = try opened.frameReader() }
            do {
                return try reader!.frame(frame)
            } catch {
                reader = nil
                throw error
            }
        }
    }
}
