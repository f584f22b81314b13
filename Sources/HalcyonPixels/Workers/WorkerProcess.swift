import CDecoding
import CWorker
import Foundation
import Glibc
import HalcyonWork
import Synchronization

/// The ways in which a request to a worker fails.
enum WorkerTrouble: Error, Equatable {
    /// The worker ended, by a signal or by itself.
    case ended(signal: Int32?)
    /// The time limit has passed.
    case late
    /// The request was cancelled, and the worker did not stop.
    case unwanted
    /// The worker is stopped (`SIGSTOP`).
    case stopped
    /// The answer is malformed.
    case nonsense
    /// The answer belongs to an earlier request: an earlier file may have taken the worker over.
    case stale
    /// There is no memory for the request or its answer.
    case noMemory
}

/// A file to be decoded by workers.
final class WorkerFile: Sendable {
    let data: Data
    let format: ImageFormat
    let coding: DirectCoding
    /// Identifies the file in requests.
    let name = nextName.add(1, ordering: .relaxed).newValue
    /// The number of the worker that had the file last, and may still have it open.
    let worker = Atomic<Int>(0)

    private static let nextName = Atomic<UInt64>(0)
    private let digestOnce = Mutex<[UInt8]?>(nil)

    /// The SHA-256 digest of the bytes, computed on first use.
    var digest: [UInt8] {
        if let digest = digestOnce.withLock({ $0 }) { return digest }
        let digest = Digest.sha256.bytes(data)
        digestOnce.withLock { $0 = digest }
        return digest
    }

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
    let process: pid_t
    let output: SharedRegion
    private let input: SharedRegion
    private let socket: Int32
    private let log: Int32
    /// Whether the regions hold more memory than a small picture needs.
    private(set) var holdsMuch = false
    /// The time of the last answer, in nanoseconds of the monotonic clock.
    var lastUse: UInt64 = 0
    private var lastID: UInt64 = 0
    /// The file whose bytes are in the region for input.
    private var fileName: UInt64?
    private var hasEnded = false

    /// Nanoseconds before a late worker is killed, and before one that ignores a cancellation is. Workers check the
    /// time limit themselves.
    private static let grace: UInt64 = 150_000_000
    private static let patience: UInt64 = 50_000_000
    /// The time limit in nanoseconds for requests without one.
    private static let longestWithoutLimit: UInt64 = 30_000_000_000
    private static let mostLogged = 2_000
    private static let muchMemory = 1 << 20

    /// Starts a worker and waits until it is ready.
    ///
    /// - Returns: The worker, and the parts of the sandbox that this system lacks.
    static func start(
        number: Int, program: String, memory: Int
    ) throws(WorkerStartFailure) -> (WorkerProcess, missing: UInt32) {
        guard let input = SharedRegion(), let output = SharedRegion() else {
            throw WorkerStartFailure(reason: "there is no memory that processes could share")
        }
        var sockets: [Int32] = [-1, -1]
        var code = cworker_socket_pair(&sockets)
        guard code == 0 else { throw WorkerStartFailure(code) }
        var log: [Int32] = [-1, -1]
        code = cworker_pipe(&log)
        guard code == 0 else {
            sockets.forEach { close($0) }
            throw WorkerStartFailure(code)
        }
        var process: pid_t = 0
        code = withCStrings(DecodingWorker.arguments(program, memory)) { arguments in
            withCStrings(DecodingWorker.environment) { environment in
                cworker_spawn(
                    program, arguments, environment, sockets[1], input.file, output.file, log[1],
                    &process)
            }
        }
        close(sockets[1])
        close(log[1])
        guard code == 0 else {
            close(sockets[0])
            close(log[0])
            throw WorkerStartFailure(code)
        }
        let worker = WorkerProcess(number, process, input, output, sockets[0], log[0])
        do {
            let answer = try worker.receive(
                id: 0, format: .unknown, deadline: cdecoding_now() + longestWithoutLimit)
            guard case .ready(let missing) = answer else { throw WorkerTrouble.nonsense }
            return (worker, missing)
        } catch {
            let words = worker.said
            let signal = worker.end()
            let reason = signal.map { "it ended by \(SignalName.of($0))" } ?? "it did not start"
            throw WorkerStartFailure(reason: words.isEmpty ? reason : "\(reason): \(words)")
        }
    }

    private init(
        _ number: Int, _ process: pid_t, _ input: SharedRegion, _ output: SharedRegion,
        _ socket: Int32, _ log: Int32
    ) {
        self.number = number
        self.process = process
        self.input = input
        self.output = output
        self.socket = socket
        self.log = log
    }

    deinit {
        _ = end()
        close(socket)
        close(log)
    }

    /// Sends a request and waits for the answer, up to the time limit of the calling thread.
    ///
    /// - Parameter room: The largest size in bytes of the answer in the region for output.
    func answer(
        _ task: WorkerRequest.Task, of file: WorkerFile, room: Int
    ) throws(WorkerTrouble) -> WorkerAnswer {
        guard output.reserve(room) else { throw .noMemory }
        if room > Self.muchMemory || file.data.count > Self.muchMemory { holdsMuch = true }
        if fileName == file.name {
            let answer = try exchange(task, file, room, byteCount: nil)
            guard case .unknownFile = answer else { return answer }
        }
        fileName = nil
        guard input.write(file.data) else { throw .noMemory }
        let answer = try exchange(task, file, room, byteCount: file.data.count)
        if case .unknownFile = answer { throw .nonsense }
        fileName = file.name
        file.worker.store(number, ordering: .relaxed)
        return answer
    }

    /// Releases the memory of the regions. The worker loses its open file.
    func shrink() {
        fileName = nil
        holdsMuch = false
        input.shrink()
        output.shrink()
    }

    private func exchange(
        _ task: WorkerRequest.Task, _ file: WorkerFile, _ room: Int, byteCount: Int?
    ) throws(WorkerTrouble) -> WorkerAnswer {
        lastID += 1
        let now = cdecoding_now()
        var deadline = cdecoding_deadline()
        if deadline == 0 { deadline = now + Self.longestWithoutLimit }
        guard deadline > now else { throw .late }
        let request = WorkerRequest(
            id: lastID, task: task, file: file.name, byteCount: byteCount, format: file.format,
            coding: file.coding, duration: deadline - now, room: room)
        try send(request)
        let answer = try receive(id: lastID, format: file.format, deadline: deadline + Self.grace)
        if case .ready = answer { throw .nonsense }
        return answer
    }

    private func send(_ request: WorkerRequest) throws(WorkerTrouble) {
        let bytes = request.bytes
        guard cworker_send(socket, bytes, bytes.count) == bytes.count else {
            throw .ended(signal: end())
        }
    }

    private func receive(
        id: UInt64, format: ImageFormat, deadline: UInt64
    ) throws(WorkerTrouble) -> WorkerAnswer {
        let stop = cdecoding_stop()
        var lastMoment: UInt64?
        var wasStopped = false
        while true {
            let now = cdecoding_now()
            if now >= deadline { throw .late }
            if let stop, cdecoding_is_stop_given(stop) {
                if let lastMoment {
                    if now >= lastMoment { throw .unwanted }
                } else {
                    lastMoment = now + Self.patience
                    kill(process, WorkerRequest.stopSignal)
                }
            }
            let slice = min(deadline - now, Self.patience) / 1_000_000 + 1
            if cworker_wait(socket, Int32(slice)) != 0 { break }
            // One that goes on at once, as with the whole program in a terminal, is waited for.
            let isStopped = cworker_is_stopped(process)
            if isStopped, wasStopped { throw .stopped }
            wasStopped = isStopped
        }
        var bytes = [UInt8](repeating: 0, count: WorkerRequest.mostBytes)
        let count = cworker_receive(socket, &bytes, bytes.count, false)
        guard count > 0 else { throw .ended(signal: end()) }
        guard count <= bytes.count,
            let answer = WorkerAnswer(
                Array(bytes.prefix(count)), to: id, format: format, durations: durations)
        else { throw Self.isStale(bytes.prefix(count), id) ? .stale : .nonsense }
        return answer
    }

    private static func isStale(_ bytes: ArraySlice<UInt8>, _ id: UInt64) -> Bool {
        var reader = WireReader(Array(bytes))
        guard let answered = reader.number(UInt64.self) else { return false }
        return answered < id && answered > 0
    }

    private func durations(_ count: Int) -> [Double]? {
        guard count * 8 <= output.bytes.count else { return nil }
        return (0..<count).map {
            output.bytes.loadUnaligned(fromByteOffset: 8 * $0, as: Double.self)
        }
    }

    /// Whether the worker is alive and has sent nothing unrequested.
    var isSilent: Bool { cworker_wait(socket, 0) == 0 }

    /// The text written to standard error since the last call, cut off at 2,000 bytes.
    var said: String {
        var bytes = [UInt8](repeating: 0, count: Self.mostLogged)
        let count = read(log, &bytes, bytes.count)
        guard count > 0 else { return "" }
        if count == bytes.count {
            var rest = [UInt8](repeating: 0, count: 1 << 16)
            _ = read(log, &rest, rest.count)
        }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Kills the worker if it is alive, and reaps it.
    ///
    /// - Returns: The signal that had ended it before the call, if any.
    @discardableResult
    func end() -> Int32? {
        guard !hasEnded else { return nil }
        hasEnded = true
        var status: Int32 = 0
        // One that closes its socket has ended, or does so soon: on a busy machine its end takes a while.
        var result = waitpid(process, &status, WNOHANG)
        for _ in 0..<500 where result == 0 && cworker_wait(socket, 0) == 1 {
            usleep(1000)
            result = waitpid(process, &status, WNOHANG)
        }
        if result == 0 {
            kill(process, SIGKILL)
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            return nil
        }
        guard result == process, status & 0x7F != 0, status & 0x7F != 0x7F else { return nil }
        return status & 0x7F
    }
}

/// A failed start of a worker.
struct WorkerStartFailure: Error {
    let reason: String

    init(reason: String) { self.reason = reason }
    init(_ code: Int32) { reason = String(cString: strerror(code)) }
}

/// The names of signals that end programs.
enum SignalName {
    static func of(_ signal: Int32) -> String {
        switch signal {
        case SIGABRT: "SIGABRT"
        case SIGSEGV: "SIGSEGV"
        case SIGBUS: "SIGBUS"
        case SIGILL: "SIGILL"
        case SIGFPE: "SIGFPE"
        case SIGTRAP: "SIGTRAP"
        case SIGSYS: "SIGSYS"
        case SIGKILL: "SIGKILL"
        case SIGSTOP: "SIGSTOP"
        case SIGXCPU: "SIGXCPU"
        case SIGXFSZ: "SIGXFSZ"
        case SIGTERM: "SIGTERM"
        default: "signal \(signal)"
        }
    }
}
