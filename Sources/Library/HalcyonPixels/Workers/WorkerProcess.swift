import CCodecs
import CProcesses
import Foundation
import Glibc
import HalcyonWork
import Synchronization

enum WorkerTrouble: Error, Equatable {
    case ended(signal: Int32?)
    /// The time limit has passed.
    case late
    /// The request was cancelled, and the worker did not stop.
    case unwanted
    case stopped
    /// The answer is malformed.
    case nonsense
    /// The answer belongs to an earlier request: an earlier file may have taken the worker over.
    case stale
    /// There is no memory for the request or its answer.
    case noMemory
}

final class WorkerFile: Sendable {
    let data: Data
    let format: ImageFormat
    let coding: DirectCoding
    let name = nextName.add(1, ordering: .relaxed).newValue
    /// The number of the worker that had the file last, and may still have it open.
    let worker = Atomic<Int>(0)

    private static let nextName = Atomic<UInt64>(0)
    /// The pixels that came with the header, until they are needed.
    private let pixels = Mutex<Bitmap?>(nil)
    private let digestOnce = Mutex<[UInt8]?>(nil)

    /// The SHA-256 digest of the bytes, computed on first use.
    var digest: [UInt8] {
        if let digest = digestOnce.withLock({ $0 }) { return digest }
        let digest = Digest.sha256.bytes(data)
        digestOnce.withLock { $0 = digest }
        return digest
    }

    func keep(_ bitmap: Bitmap) { pixels.withLock { $0 = bitmap } }
    func takePixels() -> Bitmap? { pixels.withLock { $0.take() } }

    init(_ data: Data, _ format: ImageFormat, _ coding: DirectCoding) {
        self.data = data
        self.format = format
        self.coding = coding
    }
}

/// A worker process, as seen by the program that started it. Used by one thread at a time.
final class WorkerProcess: @unchecked Sendable {
    // Unchecked because only the thread that took it out of the pool uses it.

    /// Counted from 1.
    let number: Int
    let output: SharedRegion
    private let input: SharedRegion
    let child: WorkerChild
    /// When the regions last had to hold more memory than a small picture needs, in nanoseconds of the monotonic clock;
    /// `nil` if they hold no more.
    private(set) var lastLarge: UInt64?
    /// Whether it has less of the processors than others, for good: this process may not give it more again.
    private(set) var isHeldBack = false
    private var lastID: UInt64 = 0
    /// The file whose bytes are in the region for input.
    private var fileName: UInt64?

    /// Nanoseconds before a late worker is killed, and before one that ignores a cancellation is. Workers check the
    /// time limit themselves.
    private static let grace: UInt64 = 150_000_000
    private static let patience: UInt64 = 50_000_000
    /// Nanoseconds after which a picture makes room for others; each further tenth of a second lowers its priority.
    private static let shortWork: UInt64 = 250_000_000
    private static let step: UInt64 = 100_000_000
    private static let lowestPriority: Int32 = 19
    /// The time limit in nanoseconds for requests without one.
    private static let longestWithoutLimit: UInt64 = 30_000_000_000
    private static let muchMemory = 1 << 20

    /// Has `template` fork a worker, and waits until it is ready; returns the worker, and the parts of the
    /// sandbox that this system lacks.
    static func start(
        number: Int, by template: WorkerTemplate
    ) throws(WorkerStartFailure) -> (WorkerProcess, missing: UInt32) {
        guard let input = SharedRegion(), let output = SharedRegion() else {
            throw WorkerStartFailure(reason: "there is no memory that processes could share")
        }
        let child = try WorkerChild { socket, log, process in
            template.fork(
                socket: socket, input: input.file, output: output.file, log: log, &process)
        }
        let missing = try child.waitUntilReady()
        return (WorkerProcess(number, child, input, output), missing)
    }

    private init(
        _ number: Int, _ child: WorkerChild, _ input: SharedRegion, _ output: SharedRegion
    ) {
        self.number = number
        self.child = child
        self.input = input
        self.output = output
    }

    /// The nanoseconds that the calling thread's picture may still take.
    static var timeLeft: UInt64 {
        let deadline = cdecoding_thread().pointee.deadline
        guard deadline > 0 else { return longestWithoutLimit }
        return deadline - min(deadline, cdecoding_now())
    }

    /// Sends a request and waits for the answer, up to the time limit of the calling thread.
    ///
    /// - Parameters:
    ///   - room: The largest size in bytes of the answer in the region for output.
    ///   - onLongWork: Called once the worker has taken longer than most pictures do.
    func answer(
        _ task: WorkerRequest.Task, of file: WorkerFile, room: Int, onLongWork: () -> Void
    ) throws(WorkerTrouble) -> WorkerAnswer {
        guard output.reserve(room) else { throw .noMemory }
        defer { noteUse(of: max(room, file.data.count)) }
        if fileName == file.name {
            let answer = try exchange(task, file, room, byteCount: nil, onLongWork)
            guard case .unknownFile = answer else { return answer }
        }
        fileName = nil
        guard input.write(file.data) else { throw .noMemory }
        let answer = try exchange(task, file, room, byteCount: file.data.count, onLongWork)
        if case .unknownFile = answer { throw .nonsense }
        fileName = file.name
        file.worker.store(number, ordering: .relaxed)
        return answer
    }

    private func noteUse(of count: Int) {
        if count > Self.muchMemory { lastLarge = cdecoding_now() }
    }

    /// Releases the memory of the regions. The worker loses its open file.
    func shrink() {
        fileName = nil
        lastLarge = nil
        input.shrink()
        output.shrink()
    }

    private func exchange(
        _ task: WorkerRequest.Task, _ file: WorkerFile, _ room: Int, byteCount: Int?,
        _ onLongWork: () -> Void
    ) throws(WorkerTrouble) -> WorkerAnswer {
        lastID += 1
        let time = Self.timeLeft
        guard time > 0 else { throw .late }
        let deadline = cdecoding_now() + time
        let request = WorkerRequest(
            id: lastID, task: task, file: file.name, byteCount: byteCount, format: file.format,
            coding: file.coding, duration: time, room: room)
        try send(request)
        let answer = try receive(
            id: lastID, format: file.format, deadline: deadline + Self.grace, onLongWork)
        switch answer {
        case .ready: throw .nonsense
        case .opened(let header, _, hasPixels: true): noteUse(of: header.byteCount)
        default: break
        }
        return answer
    }

    private func send(_ request: WorkerRequest) throws(WorkerTrouble) {
        let bytes = request.bytes
        guard cworker_send(child.socket, bytes, bytes.count) == bytes.count else {
            throw .ended(signal: child.end())
        }
    }

    private func receive(
        id: UInt64, format: ImageFormat, deadline: UInt64, _ onLongWork: () -> Void
    ) throws(WorkerTrouble) -> WorkerAnswer {
        let process = child.process
        let stop = cdecoding_thread().pointee.stop
        let begin = cdecoding_now()
        var lastMoment: UInt64?
        var wasStopped = false
        var isLong = false
        defer { if isLong { isHeldBack = !cworker_hold_back(process, 0) } }
        while true {
            let now = cdecoding_now()
            if now >= deadline { throw .late }
            if now - begin > Self.shortWork {
                if !isLong { onLongWork() }
                isLong = true
                let steps = Int32(clamping: (now - begin) / Self.step)
                _ = cworker_hold_back(process, min(steps, Self.lowestPriority))
            }
            if let stop, cdecoding_is_stop_given(stop) {
                if let lastMoment {
                    if now >= lastMoment { throw .unwanted }
                } else {
                    lastMoment = now + Self.patience
                    kill(process, WorkerRequest.stopSignal)
                }
            }
            let slice = min(deadline - now, Self.patience) / 1_000_000 + 1
            if cworker_wait(child.socket, Int32(slice)) != 0 { break }
            // One that goes on at once, as with the whole program in a terminal, is waited for.
            let isStopped = cworker_is_stopped(process)
            if isStopped, wasStopped { throw .stopped }
            wasStopped = isStopped
        }
        guard let bytes = child.message() else { throw .ended(signal: child.end()) }
        guard bytes.count <= WorkerRequest.mostBytes,
            let answer = WorkerAnswer(bytes, to: id, format: format, durations: durations)
        else { throw Self.isStale(bytes, id) ? .stale : .nonsense }
        return answer
    }

    private static func isStale(_ bytes: [UInt8], _ id: UInt64) -> Bool {
        var reader = WireReader(bytes)
        guard let answered = reader.count() else { return false }
        return answered < id && answered > 0
    }

    private func durations(_ count: Int) -> [Double]? {
        guard count * 8 <= output.bytes.count else { return nil }
        return (0..<count).map {
            output.bytes.loadUnaligned(fromByteOffset: 8 * $0, as: Double.self)
        }
    }
}

enum SignalName {
    static func of(_ signal: Int32) -> String {
        names[signal] ?? "signal \(signal)"
    }

    private static let names = [
        SIGABRT: "SIGABRT", SIGSEGV: "SIGSEGV", SIGBUS: "SIGBUS", SIGILL: "SIGILL",
        SIGFPE: "SIGFPE", SIGTRAP: "SIGTRAP", SIGSYS: "SIGSYS", SIGKILL: "SIGKILL",
        SIGSTOP: "SIGSTOP", SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ", SIGTERM: "SIGTERM",
    ]
}
