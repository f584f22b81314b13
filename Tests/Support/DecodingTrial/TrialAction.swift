import CTestKit
import Foundation
import Glibc
import HalcyonPixels

/// An action of a worker before or instead of decoding.
struct TrialAction {
    /// An environment variable that workers inherit: with it, the action `unless-calm` does
    /// nothing.
    static let calm = "HALCYON_LIBRARY_TRIAL_CALM"

    /// The actions that end a worker or block it.
    static let killers = [
        "abort", "outside", "recurse", "spin", "allocate", "fork", "execute", "connect", "flood",
        "none", "zero", "frames", "cut", "twice", "other", "stop", "errors", "exit", "sleep",
        "size", "channels", "depth", "huge", "pixels", "beyond",
    ]

    private let name: String
    private let trial: DecodingWorkerTrial
    private static let socket: Int32 = 3

    /// Runs the action named in the file of `trial`, if there is one.
    static func run(_ trial: DecodingWorkerTrial) {
        let head = trial.data.prefix(200)
        guard let start = head.range(of: Data(TrialPicture.marker.utf8)) else { return }
        let name = head[start.upperBound...].prefix { $0 != 0x20 }
        TrialAction(name: String(decoding: name, as: UTF8.self), trial: trial).run()
    }

    private func run() {
        switch name {
        case "abort": abort()
        case "outside": ctrial_write_outside()
        case "recurse": _ = ctrial_recurse(0)
        case "spin": ctrial_spin()
        case "allocate": ctrial_allocate()
        case "fork": exitWith(ctrial_fork())
        case "execute": exitWith(ctrial_execute())
        case "connect": exitWith(ctrial_connect())
        case "read": if ctrial_open("/etc/passwd", false) == 0 { abort() }
        case "write": if ctrial_open("/tmp/halcyon-trial", true) == 0 { abort() }
        case "stop": raise(SIGSTOP)
        case "flood": ctrial_flood(Self.socket)
        case "errors": ctrial_write_errors(1 << 30)
        case "exit": exit(0)
        case "sleep": ctrial_sleep()
        case "unless-calm": if getenv(Self.calm) == nil { ctrial_sleep() }
        default: answer()
        }
    }

    /// Exits after a forbidden call that returned instead of ending the worker.
    private func exitWith(_ code: Int32) {
        print("halcyon-trial: \(name) was answered with \(code)")
        exit(90)
    }

    /// Sends a false or malformed message.
    private func answer() {
        let size = [16, 12]
        switch name {
        case "none" where trial.isOpening: say([77, 1, 2, 3])
        case "zero" where trial.isOpening: say(opened([0, 0]))
        case "frames" where trial.isOpening: say(opened(size, frames: Int(UInt32.max)))
        case "cut" where trial.isOpening: say([2] + size)
        case "twice": say(trial.isOpening ? opened(size) : [3] + size + [3, 8])
        case "other" where trial.isOpening: say(opened(size), id: trial.id &+ 1000)
        case "size" where !trial.isOpening: say([3, 17, 12, 3, 8])
        case "channels" where !trial.isOpening: say([3] + size + [4, 8])
        case "depth" where !trial.isOpening: say([3] + size + [3, 16])
        case "huge" where !trial.isOpening: say([3, Int(Int32.max), Int(Int32.max), 3, 8])
        // Of pixels that were not requested, and of some beyond the region.
        case "pixels" where trial.isOpening: say(opened([2000, 2000], hasPixels: true))
        case "beyond" where trial.isOpening: say(opened([1000, 1000], hasPixels: true))
        default: break
        }
    }

    /// The answer to opening an opaque picture.
    private func opened(_ size: [Int], frames: Int = 1, hasPixels: Bool = false) -> [Int] {
        [2] + size + size + [0, 8, frames, frames > 1 ? 1 : 0, 0, 0, hasPixels ? 1 : 0]
    }

    private func say(_ numbers: [Int], id: UInt64? = nil) {
        let words = [id ?? trial.id] + numbers.map { UInt64(truncatingIfNeeded: Int64($0)) }
        let bytes = words.flatMap { word in
            withUnsafeBytes(of: word.littleEndian) { Array($0) }
        }
        _ = ctrial_send(Self.socket, bytes, bytes.count)
    }
}
