import CDecoding
import CWorker
import Foundation
import Glibc
import HalcyonWork
import Synchronization

/// The pool of workers: at most as many as decoding threads, started when needed, one ahead in busy programs, and kept.
///
/// A thread that finds no idle worker waits for one, within the time limit of its picture. A file that crashed a worker
/// is not tried again. One thread starts all workers, one after the other and at a limited rate: files that crash workers
/// slow down the waiting requests, not those with a worker.
final class DecodingWorkers: @unchecked Sendable {
    // Unchecked because the state is guarded by the condition's lock.

    static let shared = DecodingWorkers(most: Processors.count)

    private let most: Int
    private let condition = NSCondition()
    private var idle: [WorkerProcess] = []
    private var wanted = 0
    private var waiting = 0
    private var lastNumber = 0
    private var answerCount = 0
    private var isStarting = false
    /// The reason of the last failed start; `nil` after a successful one.
    private var failure: String?
    private var failures = 0
    private var lastFailure: UInt64 = 0
    private var processes: [Int: pid_t] = [:]
    private var counts = DecodingWorkerStatistics()
    /// The budget for starts: a burst, refilled over time.
    private var tokens = 16.0
    private var lastToken = cdecoding_now()
    private static let mostTokens = 16.0
    private static let tokensEachSecond = 8.0
    /// Seconds after which a worker that is not used gives back the memory of large pictures.
    private static let longestIdle = 5.0

    let killers = KillerFiles()

    init(most: Int) {
        self.most = max(1, most)
    }

    var statistics: DecodingWorkerStatistics {
        var (result, alive) = condition.withLock { (counts, Array(processes.values)) }
        result.alive = alive.count
        result.memory = alive.reduce(0) { $0 + Self.memory(of: $1) }
        return result
    }

    var processIdentifiers: [pid_t] { condition.withLock { Array(processes.values) } }

    private static func memory(of process: pid_t) -> Int {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)
        else { return 0 }
        let pages = text.split(separator: " ").prefix(3).compactMap { Int($0) }
        return pages.count == 3 ? (pages[1] - pages[2]) * Int(getpagesize()) : 0
    }

    /// Workers that are about to be there. Called with the lock.
    private var starting: Int { wanted + (isStarting ? 1 : 0) }
    /// Living workers, and those about to be started. Called with the lock.
    private var count: Int { processes.count + starting }

    /// Sends a request for `file` to a worker, and calls `body` with the answer while the region for output is valid.
    ///
    /// - Throws: `ImageCodingError`.
    func ask<Result>(
        _ task: WorkerRequest.Task, of file: WorkerFile, room: Int,
        _ body: (WorkerAnswer, SharedRegion) throws -> Result
    ) throws -> Result {
        if let error = killers.error(of: file) { throw error }
        var isSecond = false
        while true {
            let began = cdecoding_now()
            let worker = try take(for: file)
            // The time limit of a picture does not include waiting.
            let deadline = cdecoding_deadline()
            if deadline > 0 { cdecoding_set_deadline(deadline + (cdecoding_now() - began)) }
            // Another thread may have tried it meanwhile.
            if let error = killers.error(of: file) {
                giveBack(worker)
                throw error
            }
            let trouble: WorkerTrouble
            do {
                let answer = try worker.answer(task, of: file, room: room)
                let result = try body(answer, worker.output)
                giveBack(worker)
                return result
            } catch let error as WorkerTrouble {
                trouble = error
            } catch {
                giveBack(worker)
                throw error
            }
            let said = worker.said
            discard(worker, trouble)
            if Self.isFromOutside(trouble), !isSecond {
                isSecond = true
                continue
            }
            let error = Self.error(trouble, file.format)
            report(said)
            if case .decoderStopped = error {
                killers.remember(file, error)
                DecodingWorker.report?(error.description)
            }
            throw error
        }
    }

    /// Whether something other than this file may have ended the worker.
    private static func isFromOutside(_ trouble: WorkerTrouble) -> Bool {
        switch trouble {
        case .ended(let signal): signal == nil || signal == SIGKILL || signal == SIGTERM
        case .stopped, .stale: true
        default: false
        }
    }

    private static func error(
        _ trouble: WorkerTrouble, _ format: ImageFormat
    ) -> ImageCodingError {
        switch trouble {
        case .ended(let signal):
            .decoderStopped(format, reason: signal.map(SignalName.of) ?? "it ended")
        case .stopped: .decoderStopped(format, reason: SignalName.of(SIGSTOP))
        case .nonsense, .stale: .decoderStopped(format, reason: "malformed answer")
        case .late: .tooSlow(limit: .seconds(30))
        case .unwanted: .processing(reason: "the request was cancelled")
        case .noMemory: .processing(reason: "there is no memory for its pixels")
        }
    }

    /// Reports the first lines that a worker has written to standard error.
    private func report(_ said: String) {
        guard !said.isEmpty, let report = DecodingWorker.report else { return }
        for line in said.split(separator: "\n").prefix(10) { report(String(line)) }
    }

    private func take(for file: WorkerFile) throws -> WorkerProcess {
        let number = file.worker.load(ordering: .relaxed)
        condition.lock()
        defer { condition.unlock() }
        waiting += 1
        defer { waiting -= 1 }
        let failuresBefore = failures
        let stop = cdecoding_stop()
        while true {
            if let stop, cdecoding_is_stop_given(stop) {
                throw ImageCodingError.processing(reason: "the request was cancelled")
            }
            if let index = idle.lastIndex(where: { $0.number == number }) ?? idle.indices.last {
                let worker = idle.remove(at: index)
                guard worker.isSilent else {
                    // It was ended from outside while it was idle.
                    forget(worker)
                    continue
                }
                // Keep one ahead.
                if idle.isEmpty, isBusy { startAnother() }
                return worker
            }
            if failures > failuresBefore || pauses, processes.isEmpty {
                let reason = "no decoding worker could be started: \(failure ?? "")"
                if counts.started == 0 { throw NoWorkers(reason: reason) }
                throw ImageCodingError.processing(reason: reason)
            }
            if failures == failuresBefore, starting < waiting {
                startAnother()
            }
            _ = condition.wait(until: Date(timeIntervalSinceNow: 0.05))
        }
    }

    /// Whether no worker has ever started and the last attempt failed a moment ago. Called with the lock.
    private var pauses: Bool {
        counts.started == 0 && failures > 0 && cdecoding_now() < lastFailure + Self.pause
    }

    private static let pause: UInt64 = 10_000_000_000

    private let hasToldOfNone = Atomic(false)

    /// Reports, once, that files are decoded in the process.
    func tell(of none: NoWorkers) {
        guard !hasToldOfNone.exchange(true, ordering: .relaxed) else { return }
        DecodingWorker.report?("Decoding without workers: \(none.reason)")
    }

    private func giveBack(_ worker: WorkerProcess) {
        report(worker.said)
        worker.lastUse = cdecoding_now()
        condition.withLock {
            idle.append(worker)
            answerCount += 1
            if waiting > 0 || worker.holdsMuch { condition.broadcast() }
        }
    }

    /// Waits until a worker is wanted, and meanwhile shrinks idle ones. Called with the lock.
    private func waitUntilWanted() {
        while wanted == 0 {
            guard idle.contains(where: \.holdsMuch) else {
                condition.wait()
                continue
            }
            _ = condition.wait(until: Date(timeIntervalSinceNow: Self.longestIdle))
            let now = cdecoding_now()
            for worker in idle where worker.holdsMuch {
                let idleTime = Double(now - min(now, worker.lastUse)) / 1e9
                if idleTime >= Self.longestIdle { worker.shrink() }
            }
        }
    }

    private func discard(_ worker: WorkerProcess, _ trouble: WorkerTrouble) {
        condition.withLock {
            switch trouble {
            case .late, .unwanted: counts.killed += 1
            case .ended, .stopped, .nonsense, .stale: counts.died += 1
            case .noMemory: break
            }
            forget(worker)
            if waiting > 0 || isBusy && idle.isEmpty { startAnother() }
            condition.broadcast()
        }
        worker.end()
    }

    /// Whether the program decodes enough to keep a worker ahead. Called with the lock.
    private var isBusy: Bool { answerCount >= 8 }

    /// Called with the lock.
    private func forget(_ worker: WorkerProcess) {
        processes[worker.number] = nil
    }

    /// Requests one more worker from the starting thread. Called with the lock.
    private func startAnother() {
        guard count < most else { return }
        if !isServed {
            let code = startServing()
            guard code == 0 else { return fail(String(cString: strerror(code))) }
            isServed = true
        }
        wanted += 1
        condition.broadcast()
    }

    private var isServed = false

    /// Creates the starting thread; returns an `errno` code, which `Thread` does not report.
    private func startServing() -> Int32 {
        var thread = pthread_t()
        let pool = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, nil,
            { pool in
                Unmanaged<DecodingWorkers>.fromOpaque(pool!).takeRetainedValue().serve()
            }, pool.toOpaque())
        if code == 0 { pthread_detach(thread) } else { pool.release() }
        return code
    }

    /// Called with the lock.
    private func fail(_ reason: String) {
        failure = reason
        failures += 1
        lastFailure = cdecoding_now()
    }

    /// Starts workers. They die with this thread (`PR_SET_PDEATHSIG`), so it never returns.
    private func serve() -> Never {
        while true {
            condition.lock()
            waitUntilWanted()
            wanted -= 1
            isStarting = true
            lastNumber += 1
            let number = lastNumber
            condition.unlock()
            waitForToken()
            let memory = max(1 << 30, 2 * DecodingMemory.limit)
            do {
                let (worker, missing) = try WorkerProcess.start(
                    number: number, program: DecodingWorker.program, memory: memory)
                tell(of: missing)
                condition.withLock {
                    failure = nil
                    counts.started += 1
                    processes[number] = worker.process
                    idle.append(worker)
                    isStarting = false
                    condition.broadcast()
                }
            } catch {
                DecodingWorker.report?("A decoding worker did not start: \(error.reason)")
                condition.withLock {
                    fail(error.reason)
                    isStarting = false
                    condition.broadcast()
                }
            }
        }
    }

    private func waitForToken() {
        let now = cdecoding_now()
        tokens = min(
            Self.mostTokens, tokens + Double(now - lastToken) / 1e9 * Self.tokensEachSecond)
        lastToken = now
        if tokens < 1 {
            usleep(UInt32((1 - tokens) / Self.tokensEachSecond * 1e6))
            tokens = 1
            lastToken = cdecoding_now()
        }
        tokens -= 1
    }

    private var hasTold = false

    /// Reports, once, the parts of the sandbox that this system lacks.
    private func tell(of missing: UInt32) {
        guard missing != 0, !hasTold else { return }
        hasTold = true
        let names = [
            (CWORKER_PRIVILEGES, "giving up new privileges"),
            (CWORKER_FILES, "keeping files away (Landlock)"),
            (CWORKER_CALLS, "a list of system calls (seccomp)"),
            (CWORKER_LIMITS, "limits of memory and descriptors"),
        ]
        .filter { missing & UInt32($0.0) != 0 }.map { $0.1 }
        DecodingWorker.report?(
            "Decoding workers run without \(names.joined(separator: ", ")): not supported or not permitted here"
        )
    }
}

/// No worker has ever started.
struct NoWorkers: Error {
    let reason: String
}

/// Files that crashed their decoder, by digest.
final class KillerFiles: Sendable {
    private struct State {
        var errors: [[UInt8]: ImageCodingError] = [:]
        /// The oldest first.
        var order: [[UInt8]] = []
    }

    private static let most = 1024

    private let state = Mutex(State())
    /// Digests are computed only if this is not zero.
    private let count = Atomic(0)

    func error(of file: WorkerFile) -> ImageCodingError? {
        guard count.load(ordering: .acquiring) > 0 else { return nil }
        let digest = file.digest
        return state.withLock { $0.errors[digest] }
    }

    func remember(_ file: WorkerFile, _ error: ImageCodingError) {
        let digest = file.digest
        let now = state.withLock { state in
            if state.errors.updateValue(error, forKey: digest) == nil { state.order.append(digest) }
            if state.order.count > Self.most {
                state.errors[state.order.removeFirst()] = nil
            }
            return state.order.count
        }
        count.store(now, ordering: .releasing)
    }
}
