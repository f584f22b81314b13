import CCodecs
import CProcesses
import Foundation
import Glibc
import HalcyonWork
import Synchronization

/// The pool of workers: at most as many as decoding threads, started when needed, one ahead in busy programs, and kept.
///
/// A thread that finds no idle worker waits for one, within the time limit of its picture. A file that crashed a worker
/// is not tried again. One thread has a template fork all workers, one after the other, and takes a limited part of the
/// time for it: files that crash workers slow down the waiting requests, not those with a worker. A picture that takes
/// long goes on beside the others, with another worker and another thread in its place, and ever less of the processors.
///
/// Not a `WorkTable`: a worker decodes for one thread at a time, and equal pictures are shared before they get here.
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
    private var longCount = 0
    private static let mostLong = 8 * Processors.count
    /// Set by the starting thread, with the lock.
    private var template: WorkerTemplate?
    /// Used by the starting thread.
    private var startBudget = StartBudget()
    /// Seconds after which a worker without large pictures gives back the memory of the last one.
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
    var templateIdentifier: pid_t? { condition.withLock { template?.child.process } }

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
        var attempts = 0
        while true {
            let began = cdecoding_now()
            let worker = try take(for: file)
            // The time limit of a picture does not include waiting.
            let deadline = cdecoding_thread().pointee.deadline
            if deadline > 0 {
                cdecoding_thread().pointee.deadline = deadline + (cdecoding_now() - began)
            }
            let time = WorkerProcess.timeLeft
            // Another thread may have tried it meanwhile.
            if let error = killers.error(of: file) {
                giveBack(worker)
                throw error
            }
            let trouble: WorkerTrouble
            do {
                let answer = try lending { onLongWork throws(WorkerTrouble) in
                    try worker.answer(task, of: file, room: room, onLongWork: onLongWork)
                }
                let result = try body(answer, worker.output)
                giveBack(worker)
                return result
            } catch let error as WorkerTrouble {
                trouble = error
            } catch {
                giveBack(worker)
                throw error
            }
            let said = worker.child.said
            discard(worker, trouble)
            attempts += 1
            if attempts < Self.mostAttempts(after: trouble) { continue }
            let error = Self.error(trouble, file.format, time)
            report(said)
            if case .late = trouble { killers.remember(file, error, after: time) }
            if case .decoderStopped = error {
                killers.remember(file, error)
                DecodingWorker.report?(error.description)
            }
            throw error
        }
    }

    /// The number of attempts for a file: more than one if something else may have ended the worker.
    private static func mostAttempts(after trouble: WorkerTrouble) -> Int {
        switch trouble {
        case .ended(SIGKILL), .ended(SIGTERM), .stopped: 2
        // An earlier file, and others like it may have been at other workers.
        case .stale: 6
        default: 1
        }
    }

    private static func error(
        _ trouble: WorkerTrouble, _ format: ImageFormat, _ time: UInt64
    ) -> ImageCodingError {
        switch trouble {
        case .ended(let signal):
            .decoderStopped(format, reason: signal.map(SignalName.of) ?? "it ended")
        case .stopped: .decoderStopped(format, reason: SignalName.of(SIGSTOP))
        case .nonsense, .stale: .decoderStopped(format, reason: "malformed answer")
        case .late: .tooSlow(limit: .nanoseconds(Int64(clamping: time)))
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
        let stop = cdecoding_thread().pointee.stop
        while true {
            if let stop, cdecoding_is_stop_given(stop) {
                throw ImageCodingError.processing(reason: "the request was cancelled")
            }
            if let index = idle.lastIndex(where: { $0.number == number }) ?? idle.indices.last {
                let worker = idle.remove(at: index)
                guard worker.child.isSilent else {
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
        report(worker.child.said)
        condition.withLock {
            answerCount += 1
            guard !worker.isHeldBack, processes.count <= most + longCount else {
                forget(worker)
                if waiting > 0 { startAnother() }
                return
            }
            idle.append(worker)
            if waiting > 0 || worker.lastLarge != nil && !looksAtIdle { condition.broadcast() }
        }
    }

    /// Whether the starting thread looks at idle workers from time to time, and need not be woken for one more.
    private var looksAtIdle = false

    /// Waits until a worker is wanted, and meanwhile shrinks idle ones. Called with the lock.
    private func waitUntilWanted() {
        while wanted == 0 {
            looksAtIdle = idle.contains { $0.lastLarge != nil }
            guard looksAtIdle else {
                condition.wait()
                continue
            }
            _ = condition.wait(until: Date(timeIntervalSinceNow: Self.longestIdle))
            let now = cdecoding_now()
            for worker in idle {
                guard let last = worker.lastLarge else { continue }
                if Double(now - min(now, last)) / 1e9 >= Self.longestIdle { worker.shrink() }
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
        worker.child.end()
    }

    /// Whether the program decodes enough to keep a worker ahead. Called with the lock.
    private var isBusy: Bool { answerCount >= 8 }

    /// Called with the lock.
    private func forget(_ worker: WorkerProcess) {
        processes[worker.number] = nil
    }

    /// Requests one more worker from the starting thread. Called with the lock.
    private func startAnother() {
        guard count < most + longCount else { return }
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
            startBudget.wait()
            do {
                let (worker, missing) = try start(number)
                startBudget.end()
                tell(of: missing)
                condition.withLock {
                    failure = nil
                    counts.started += 1
                    processes[number] = worker.child.process
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

    /// Has the template fork a worker. A template that does not is replaced: something else may have ended or stopped it.
    private func start(_ number: Int) throws(WorkerStartFailure) -> (WorkerProcess, UInt32) {
        let program = DecodingWorker.program
        if let template, template.child.isSilent, template.program == program,
            let worker = try? WorkerProcess.start(number: number, by: template)
        {
            return worker
        }
        // Its process is ended when the lock has been released.
        _ = condition.withLock { self.template.take() }
        let template = try WorkerTemplate(
            program: program, memory: max(1 << 30, 2 * DecodingBudget.shared.limit))
        condition.withLock { self.template = template }
        defer { report(template.child.said) }
        return try WorkerProcess.start(number: number, by: template)
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

extension DecodingWorkers {
    /// The place among workers and the thread that a picture which takes long has given to others.
    private final class Loan {
        private let thread = ThreadPool.lendThread()
        private let pool: DecodingWorkers

        init(_ pool: DecodingWorkers) { self.pool = pool }

        func end() {
            thread?.end()
            pool.condition.withLock { pool.longCount -= 1 }
        }
    }

    /// Runs `body`, which calls what it is handed if it takes long; others have its place then until it returns.
    private func lending<Result>(
        _ body: (_ onLongWork: () -> Void) throws(WorkerTrouble) -> Result
    ) throws(WorkerTrouble) -> Result {
        var loan: Loan?
        defer { loan?.end() }
        return try body { loan = lend() }
    }

    /// Makes room for other pictures beside the one that this thread waits for; `nil` when as many as may take long.
    private func lend() -> Loan? {
        let isFree = condition.withLock {
            guard longCount < Self.mostLong else { return false }
            longCount += 1
            if waiting > 0 { startAnother() }
            return true
        }
        guard isFree else { return nil }
        LongDecoding.begin()
        return Loan(self)
    }
}

/// Decoding that takes longer than a quarter of a second in a worker.
package final class LongDecoding {
    private let note: () -> Void

    private init(_ note: @escaping () -> Void) { self.note = note }

    /// Runs `body` on this thread, and `note` when decoding in it begins to take long: others may go on in its place.
    package static func noting<Result>(
        _ note: (() -> Void)?, _ body: () throws -> Result
    ) rethrows -> Result {
        guard let note else { return try body() }
        let listener = LongDecoding(note)
        let former = cdecoding_thread().pointee.listener
        cdecoding_thread().pointee.listener = Unmanaged.passUnretained(listener).toOpaque()
        defer {
            cdecoding_thread().pointee.listener = former
            withExtendedLifetime(listener) {}
        }
        return try body()
    }

    /// Tells whoever listens on this thread.
    fileprivate static func begin() {
        guard let listener = cdecoding_thread().pointee.listener else { return }
        Unmanaged<LongDecoding>.fromOpaque(listener).takeUnretainedValue().note()
    }
}

/// Limits the part of the time in which workers are started: half of it after a second.
private struct StartBudget {
    /// Seconds of starts that have not been made up for.
    private var spent = 0.0
    private var last = cdecoding_now()
    private static let most = 1.0
    private static let part = 0.5

    /// Begins a start, when it may be begun.
    mutating func wait() {
        let now = cdecoding_now()
        spent = max(0, spent - Double(now - last) / 1e9 * Self.part)
        last = now
        guard spent > Self.most else { return }
        usleep(UInt32((spent - Self.most) / Self.part * 1e6))
        wait()
    }

    mutating func end() {
        let now = cdecoding_now()
        spent += Double(now - last) / 1e9
        last = now
    }
}

/// No worker has ever started.
struct NoWorkers: Error {
    let reason: String
}

/// Files that crashed their decoder, or kept it beyond their time, by digest.
final class KillerFiles: Sendable {
    private struct State {
        /// By size in bytes, then by digest: only files of a killer's size are digested.
        var files: [Int: [[UInt8]: Entry]] = [:]
        /// The oldest first.
        var order: [(size: Int, digest: [UInt8])] = []
    }

    private struct Entry {
        let error: ImageCodingError
        /// The nanoseconds that it was given; tried again with more than twice as many.
        var time = UInt64.max
        /// Until when that counts: the machine may have had much to do.
        var end = UInt64.max
    }

    private static let most = 1024
    /// Nanoseconds for which files are remembered that took too long.
    private static let timeOfLateOnes: UInt64 = 60_000_000_000

    private let state = Mutex(State())

    func error(of file: WorkerFile) -> ImageCodingError? {
        guard let killers = state.withLock({ $0.files[file.data.count] }),
            let entry = killers[file.digest], entry.end > cdecoding_now(),
            WorkerProcess.timeLeft / 2 <= entry.time
        else { return nil }
        return entry.error
    }

    /// - Parameter time: The nanoseconds that were not enough; `nil` if more do not help.
    func remember(_ file: WorkerFile, _ error: ImageCodingError, after time: UInt64? = nil) {
        var entry = Entry(error: error)
        if let time {
            entry.time = time
            entry.end = cdecoding_now() + Self.timeOfLateOnes
        }
        let (size, digest) = (file.data.count, file.digest)
        state.withLock { state in
            let former = state.files[size, default: [:]].updateValue(entry, forKey: digest)
            if former == nil { state.order.append((size, digest)) }
            guard state.order.count > Self.most else { return }
            let oldest = state.order.removeFirst()
            state.files[oldest.size]?[oldest.digest] = nil
            if state.files[oldest.size]?.isEmpty == true { state.files[oldest.size] = nil }
        }
    }
}
