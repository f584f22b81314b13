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
        "size", "channels", "depth", "huge",
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
        let size = number(16 as Int64) + number(12 as Int64)
        let header = size + size + [0, 8]
        let end: [UInt8] = number(1 as UInt32) + [0] + number(0 as UInt32) + [0]
        switch name {
        case "none" where trial.isOpening: say([77, 1, 2, 3])
        case "zero" where trial.isOpening:
            say([2] + number(0 as Int64) + number(0 as Int64) + size + [0, 8] + end)
        case "frames" where trial.isOpening:
            say([2] + header + number(UInt32.max) + [1] + number(0 as UInt32) + [0])
        case "cut" where trial.isOpening: say([2] + size)
        case "twice":
            if trial.isOpening { say([2] + header + end) } else { say([3] + size + [3, 8]) }
        case "other" where trial.isOpening: say([2] + header + end, id: trial.id &+ 1000)
        case "size" where !trial.isOpening:
            say([3] + number(17 as Int64) + number(12 as Int64) + [3, 8])
        case "channels" where !trial.isOpening: say([3] + size + [4, 8])
        case "depth" where !trial.isOpening: say([3] + size + [3, 16])
        case "huge" where !trial.isOpening:
            say([3] + number(Int64(Int32.max)) + number(Int64(Int32.max)) + [3, 8])
        default: break
        }
    }

    private func say(_ words: [UInt8], id: UInt64? = nil) {
        let bytes = number(id ?? trial.id) + words
        _ = ctrial_send(Self.socket, bytes, bytes.count)
    }

    private func number<Number: FixedWidthInteger>(_ value: Number) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }
}
