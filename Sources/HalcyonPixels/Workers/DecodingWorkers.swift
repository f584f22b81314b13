import CDecoding
import CWorker
import Foundation
import Glibc
import HalcyonWork
import Synchronization

/// The workers of this program: as many at most as there are threads that decode, started when they are needed, one
/// ahead, and kept.
///
/// Threads that find none wait for one, within the time that their picture has. A file that has ended a worker is not
/// tried again. Workers are started by a thread of their own, one after the other and only so many in a second: files that
/// end them cost those that are waiting, and nobody else.
final class DecodingWorkers: @unchecked Sendable {
    // Unchecked because the state is guarded by the condition's lock.

    static let shared = DecodingWorkers(most: Processors.count)

    private let most: Int
    private let condition = NSCondition()
    private var idle: [WorkerProcess] = []
    /// Those that are there, and those that somebody has asked for.
    private var count = 0
    private var wanted = 0
    private var waiting = 0
    private var lastNumber = 0
    private var answerCount = 0
    private var isStarting = false
    /// Why the last one could not be started; `nil` once one could.
    private var failure: String?
    private var failures = 0
    private var lastFailure: UInt64 = 0
    private var processes: [Int: pid_t] = [:]
    private var counts = DecodingWorkerStatistics()
    /// Workers that may be started at once, and how many more each second.
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
        condition.withLock {
            var result = counts
            result.alive = processes.count
            result.memory = processes.values.reduce(0) { $0 + Self.memory(of: $1) }
            return result
        }
    }

    var processIdentifiers: [pid_t] { condition.withLock { Array(processes.values) } }

    private static func memory(of process: pid_t) -> Int {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)
        else { return 0 }
        let pages = text.split(separator: " ").prefix(3).compactMap { Int($0) }
        return pages.count == 3 ? (pages[1] - pages[2]) * Int(getpagesize()) : 0
    }

    func prepare() {
        condition.withLock { if count == 0 { startAnother() } }
    }

    /// Asks a worker for something of `file`, and hands its answer to `body` while what it has written is there.
    ///
    /// - Throws: `ImageCodingError`.
    func ask<Result>(
        _ task: WorkerRequest.Task, of file: WorkerFile, room: Int,
        _ body: (WorkerAnswer, SharedRegion) throws -> Result
    ) throws -> Result {
        if let error = killers.error(of: file) { throw error }
        var isSecond = false
        while true {
            let worker = try take(for: file)
            // Somebody else may have tried it meanwhile.
            if let error = killers.error(of: file) {
                giveBack(worker, of: file)
                throw error
            }
            let trouble: WorkerTrouble
            do {
                let answer = try worker.answer(task, of: file, room: room)
                let result = try body(answer, worker.output)
                giveBack(worker, of: file)
                return result
            } catch let error as WorkerTrouble {
                trouble = error
            } catch {
                giveBack(worker, of: file)
                throw error
            }
            let said = worker.said
            discard(worker, trouble)
            if Self.isFromOutside(trouble), !isSecond {
                isSecond = true
                continue
            }
            let error = Self.error(trouble, file.format)
            if let error = error as? ImageCodingError, case .decoderStopped = error {
                killers.remember(file, error)
            }
            tell(of: error, said)
            throw error
        }
    }

    /// Whether it may have been the system, a person, or another file that ended the worker.
    private static func isFromOutside(_ trouble: WorkerTrouble) -> Bool {
        switch trouble {
        case .ended(let signal): signal == nil || signal == SIGKILL || signal == SIGTERM
        case .stopped, .stale: true
        default: false
        }
    }

    private static func error(_ trouble: WorkerTrouble, _ format: ImageFormat) -> any Error {
        switch trouble {
        case .ended(let signal):
            ImageCodingError.decoderStopped(
                format, reason: signal.map(SignalName.of) ?? "it ended")
        case .stopped: ImageCodingError.decoderStopped(format, reason: SignalName.of(SIGSTOP))
        case .nonsense, .stale:
            ImageCodingError.decoderStopped(format, reason: "its answer is none")
        case .late: ImageCodingError.tooSlow(limit: .seconds(30))
        case .unwanted:
            ImageCodingError.processing(reason: "nobody waits any longer for it")
        case .noMemory:
            ImageCodingError.processing(reason: "there is no memory for its pixels")
        }
    }

    private func tell(of error: any Error, _ said: String) {
        guard let report = DecodingWorker.report else { return }
        for line in said.split(separator: "\n").prefix(10) { report(String(line)) }
        if let error = error as? ImageCodingError, case .decoderStopped = error {
            report(error.description)
        }
    }

    private func take(for file: WorkerFile) throws -> WorkerProcess {
        let number = file.worker.load(ordering: .relaxed)
        condition.lock()
        defer { condition.unlock() }
        waiting += 1
        defer { waiting -= 1 }
        let failuresBefore = failures
        while true {
            if cdecoding_is_late() {
                throw ImageCodingError.processing(
                    reason: "nobody waits any longer for it to be decoded")
            }
            if let index = idle.lastIndex(where: { $0.number == number }) ?? idle.indices.last {
                let worker = idle.remove(at: index)
                guard worker.isSilent else {
                    // Somebody has ended it while it had nothing to do.
                    forget(worker)
                    continue
                }
                // One ahead, for programs that have more than one picture.
                if idle.isEmpty, isBusy { startAnother() }
                return worker
            }
            if failures > failuresBefore || pauses, processes.isEmpty {
                let reason = "no process to decode it could be started: \(failure ?? "")"
                if counts.started == 0 { throw NoWorkers(reason: reason) }
                throw ImageCodingError.processing(reason: reason)
            }
            if failures == failuresBefore, wanted + (isStarting ? 1 : 0) < waiting {
                startAnother()
            }
            _ = condition.wait(until: Date(timeIntervalSinceNow: 0.05))
        }
    }

    /// Whether none has ever started, and another try would hardly do better. Called with the lock.
    private var pauses: Bool {
        counts.started == 0 && failures > 0 && cdecoding_now() < lastFailure + Self.pause
    }

    private static let pause: UInt64 = 10_000_000_000

    private let hasToldOfNone = Atomic(false)

    /// Tells once that pictures are decoded without workers.
    func tell(of none: NoWorkers) {
        guard !hasToldOfNone.exchange(true, ordering: .relaxed) else { return }
        DecodingWorker.report?("Pictures are decoded in this process: \(none.reason)")
    }

    private func giveBack(_ worker: WorkerProcess, of file: WorkerFile) {
        let said = worker.said
        if !said.isEmpty, let report = DecodingWorker.report {
            for line in said.split(separator: "\n").prefix(10) { report(String(line)) }
        }
        worker.lastUse = cdecoding_now()
        condition.withLock {
            idle.append(worker)
            answerCount += 1
            if waiting > 0 || worker.holdsMuch { condition.broadcast() }
        }
    }

    /// Waits until a worker is wanted, and gives back the memory of those that nobody uses. Called with the lock.
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

    /// Whether the program decodes so many pictures that a worker is started ahead. Called with the lock.
    private var isBusy: Bool { answerCount >= 8 }

    /// Called with the lock.
    private func forget(_ worker: WorkerProcess) {
        processes[worker.number] = nil
        count -= 1
    }

    /// Has the starting thread start one more. Called with the lock.
    private func startAnother() {
        guard count < most else { return }
        count += 1
        wanted += 1
        if !isServed {
            isServed = true
            let thread = Thread { [self] in serve() }
            thread.name = "workers"
            thread.start()
        }
        condition.broadcast()
    }

    private var isServed = false

    /// Starts workers for ever. They end with this thread.
    private func serve() {
        while true {
            condition.lock()
            isStarting = false
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
                DecodingWorker.report?("A process for decoding does not start: \(error.reason)")
                condition.withLock {
                    failure = error.reason
                    failures += 1
                    lastFailure = cdecoding_now()
                    count -= 1
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

    /// Tells once what this machine cannot keep from workers.
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
            "Processes for decoding go without \(names.joined(separator: ", ")): the system does not allow it."
        )
    }
}

/// None has ever started.
struct NoWorkers: Error {
    let reason: String
}

/// Files that have ended the process that decoded them.
final class KillerFiles: Sendable {
    private struct State {
        var errors: [[UInt8]: ImageCodingError] = [:]
        /// The oldest first.
        var order: [[UInt8]] = []
    }

    private static let most = 1024

    private let state = Mutex(State())
    /// Digests are made only when there is something to compare them with.
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
