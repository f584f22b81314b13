import CTestKit
import Foundation
import Glibc
import HalcyonPixels
import HalcyonWork

/// A program that decodes files, some of them hostile, and reports the outcome of each.
@main
struct DecodingTrial {
    static let usage = """
        usage: DecodingTrial decode [OPTION …] FILE …
               DecodingTrial compare FILE …
               DecodingTrial mixed GOOD KILLERS [--actions A,B] [--size WIDTHxHEIGHT] [OPTION …]
               DecodingTrial picture NAME

        A file may be trial:ACTION#NUMBER: a small picture that has its worker do something.
        --isolation none|foreign|all   by default foreign
        --threads N        as many as processors by default
        --rounds N         how often all files are decoded
        --limit MS,…       the longest time that each picture may take, the last one all others
        --give-up          stop waiting for each picture that takes long, but good ones
        --alike            killers of one kind are the same file
        --at-once          pixels are requested with the header
        --refuse seccomp,landlock,memory-files,limits,privileges
        --program FILE     what is started as a worker
        --signal NUMBER    sent to workers between two files, or to one that is at trial:unless-calm
        --to-template      signals are sent to the template of workers instead
        """

    static func main() {
        DecodingWorker.beforeDecoding = TrialAction.run
        DecodingWorker.runIfAsked()
        var words = Array(DecodingWorker.commandLine.dropFirst())
        guard !words.isEmpty else { fail() }
        let command = words.removeFirst()
        guard let options = TrialOptions(words) else { fail() }
        options.apply()
        switch command {
        case "decode": DecodingRun(options).decode()
        case "compare": options.files.forEach { Comparison(of: $0).tell() }
        case "mixed":
            guard let run = MixedRun(options) else { fail() }
            exit(run.run() ? 0 : 1)
        case "picture":
            guard let picture = options.files.first.flatMap({ TrialPicture($0) }) else { fail() }
            FileHandle.standardOutput.write(picture.data)
        default: fail()
        }
    }

    private static func fail() -> Never {
        print(usage)
        exit(64)
    }
}

/// The options of the command line.
struct TrialOptions {
    var files: [String] = []
    var isolation = DecodingIsolation.foreign
    var threads = Processors.count
    var rounds = 1
    var limits: [Int] = []
    var givesUp = false
    var isAlike = false
    var isAtOnce = false
    var signalsTemplate = false
    var refused: UInt32 = 0
    var program: String?
    var signal: Int32?
    var actions = TrialAction.killers
    var size = "16x12"

    init?(_ words: [String]) {
        var words = words[...]
        while let word = words.popFirst() {
            guard word.hasPrefix("--") else {
                files.append(word)
                continue
            }
            if let flag = Self.flags[word] {
                self[keyPath: flag] = true
                continue
            }
            guard let value = words.popFirst() else { return nil }
            switch word {
            case "--isolation":
                guard let chosen = DecodingIsolation(rawValue: value) else { return nil }
                isolation = chosen
            case "--threads": threads = Int(value) ?? threads
            case "--rounds": rounds = Int(value) ?? rounds
            case "--limit": limits = value.split(separator: ",").compactMap { Int($0) }
            case "--program": program = value
            case "--signal": signal = Int32(value)
            case "--actions": actions = value.split(separator: ",").map(String.init)
            case "--size": size = value
            case "--refuse":
                for name in value.split(separator: ",") {
                    guard let bit = Self.calls[String(name)] else { return nil }
                    refused |= bit
                }
            default: return nil
            }
        }
    }

    private static var flags: [String: WritableKeyPath<TrialOptions, Bool>] {
        [
            "--alike": \.isAlike, "--at-once": \.isAtOnce, "--give-up": \.givesUp,
            "--to-template": \.signalsTemplate,
        ]
    }

    private static let calls: [String: UInt32] = [
        "seccomp": UInt32(CTRIAL_SECCOMP), "landlock": UInt32(CTRIAL_LANDLOCK),
        "memory-files": UInt32(CTRIAL_MEMORY_FILES), "limits": UInt32(CTRIAL_LIMITS),
        "privileges": UInt32(CTRIAL_PRIVILEGES),
    ]

    func apply() {
        DecodingIsolation.current = isolation
        // Decoders that take all memory that they get take little of this machine.
        DecodingBudget.shared.limit = 256 << 20
        if let program { DecodingWorker.program = program }
        DecodingWorker.report = { line in
            // The rest of what a killer has to say.
            Output.shared.tell(["report": String(line.prefix(200))])
        }
        if refused != 0, case let code = ctrial_refuse(refused), code != 0 {
            print("the filter is refused: \(String(cString: strerror(code)))")
            exit(70)
        }
    }

    func creating(_ number: Int) -> ImageCreatingOptions {
        var options = ImageCreatingOptions()
        if let last = limits.last {
            let limit = number < limits.count ? limits[number] : last
            options.limits.maximumDuration = .milliseconds(limit)
        }
        return options
    }
}
