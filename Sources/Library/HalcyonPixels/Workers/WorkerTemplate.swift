import CCodecs
import CProcesses
import Foundation
import Glibc
import HalcyonWork

/// A process that decodes, or forks those that do: its socket, what it writes to standard error, and its end.
final class WorkerChild {
    let process: pid_t
    let socket: Int32
    private let log: Int32
    private var hasEnded = false

    /// Milliseconds until a process that has not said that it is ready is given up.
    private static let longestStart = 30_000
    private static let mostLogged = 2_000

    /// Starts a process by `start`, which is handed the other ends of its socket and its log, and returns a number of
    /// errno.
    init(
        _ start: (_ socket: Int32, _ log: Int32, _ process: inout pid_t) -> Int32
    ) throws(WorkerStartFailure) {
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
        code = start(sockets[1], log[1], &process)
        close(sockets[1])
        close(log[1])
        guard code == 0 else {
            close(sockets[0])
            close(log[0])
            throw WorkerStartFailure(code)
        }
        self.process = process
        socket = sockets[0]
        self.log = log[0]
    }

    deinit {
        end()
        close(socket)
        close(log)
    }

    /// Waits until the process says that it is ready; returns the parts of the sandbox that this system
    /// lacks.
    func waitUntilReady() throws(WorkerStartFailure) -> UInt32 {
        let deadline = cdecoding_now() + UInt64(Self.longestStart) * 1_000_000
        while cworker_wait(socket, 1000) == 0, cdecoding_now() < deadline {}
        if let bytes = message(),
            case .ready(let missing) = WorkerAnswer(
                bytes, to: 0, format: .unknown, durations: { _ in nil })
        {
            return missing
        }
        let words = said
        let reason = end().map { "it ended by \(SignalName.of($0))" } ?? "it did not start"
        throw WorkerStartFailure(reason: words.isEmpty ? reason : "\(reason): \(words)")
    }

    /// The next message, if it is there; of one that is too long, a byte too many.
    func message() -> [UInt8]? {
        let room = WorkerRequest.mostBytes + 1
        let bytes = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            count = min(max(0, cworker_receive(socket, buffer.baseAddress, room, false)), room)
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// Whether the process is alive and has sent nothing unrequested.
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

    /// Kills the process if it is alive, and reaps it; returns the signal that had ended it before the call,
    /// if any.
    @discardableResult
    func end() -> Int32? {
        guard !hasEnded else { return nil }
        hasEnded = true
        var status: Int32 = 0
        // One that closes its socket has ended, or does so soon: on a busy machine its end takes a while.
        var result = waitpid(process, &status, WNOHANG)
        for _ in 0..<500 where result == 0 && cworker_is_closed(socket) {
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

/// A process of this program that has loaded what decoders need, decodes nothing, and forks workers.
///
/// Forking takes a few milliseconds, executing this program anew and loading libraries a hundred. Its workers are
/// children of this process, not of the template: they are waited for and signalled as if executed. Used by the thread
/// that starts workers.
final class WorkerTemplate {
    let program: String
    let child: WorkerChild

    init(program: String, memory: Int) throws(WorkerStartFailure) {
        self.program = program
        child = try WorkerChild { socket, log, process in
            withCStrings(DecodingWorker.arguments(program, memory)) { arguments in
                withCStrings(DecodingWorker.environment) { environment in
                    cworker_spawn(program, arguments, environment, socket, log, &process)
                }
            }
        }
        // What it lacks, its workers tell.
        _ = try child.waitUntilReady()
    }

    /// Forks a worker; returns a number of errno.
    func fork(
        socket: Int32, input: Int32, output: Int32, log: Int32, _ process: inout pid_t
    ) -> Int32 {
        let code = cworker_request_fork(child.socket, socket, input, output, log)
        guard code == 0 else { return code }
        while cworker_wait(child.socket, 1000) == 0, !cworker_is_stopped(child.process) {}
        guard let bytes = child.message(), bytes.count == 4 else { return EPIPE }
        let answer = bytes.withUnsafeBytes { $0.loadUnaligned(as: Int32.self) }
        guard answer > 0 else { return answer < 0 ? -answer : EPROTO }
        process = answer
        return 0
    }
}

struct WorkerStartFailure: Error {
    let reason: String

    init(reason: String) { self.reason = reason }
    init(_ code: Int32) { reason = String(cString: strerror(code)) }
}
