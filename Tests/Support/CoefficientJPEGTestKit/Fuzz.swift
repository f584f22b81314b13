import Foundation

/// A program that decodes damaged files for some seconds, compares the results with libjpeg and
/// prints their numbers.
@main
struct Fuzz {
    static let usage = """
        usage: CoefficientJPEGTestKit SECONDS SEED FOLDER [INDEX]
        Files on which the decoders disagree are written to FOLDER, and which case is being decoded.
        With INDEX, the file of this case is written and decoded alone.
        """

    let seed: UInt64
    let folder: URL
    var counts: [FuzzCase.Verdict: Int] = [:]
    var failures = 0

    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 4, let seconds = Int(arguments[1]), let seed = UInt64(arguments[2])
        else {
            print(usage)
            exit(2)
        }
        let folder = URL(filePath: arguments[3], directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var fuzz = Fuzz(seed: seed, folder: folder)
        if arguments.count > 4, let index = Int(arguments[4]) {
            let item = FuzzCase(seed: seed, index: index)
            try fuzz.save(item, index: index)
            print(item.verdict())
            return
        }
        try fuzz.run(for: .seconds(seconds))
        exit(fuzz.failures == 0 ? 0 : 1)
    }

    private mutating func run(for duration: Duration) throws {
        let current = folder.appending(path: "\(seed).current")
        try Data().write(to: current)
        let note = try FileHandle(forWritingTo: current)
        let clock = ContinuousClock()
        let end = clock.now + duration
        var report = clock.now + .seconds(60)
        var index = 0
        while clock.now < end {
            // Read after a crash: the case that was being decoded.
            try note.seek(toOffset: 0)
            try note.write(contentsOf: Data("\(index)\n".utf8))
            let item = FuzzCase(seed: seed, index: index)
            let verdict = item.verdict()
            counts[verdict, default: 0] += 1
            if verdict.isFailure {
                failures += 1
                print("\(verdict): seed \(seed), case \(index)")
                try save(item, index: index)
            }
            index += 1
            if clock.now > report {
                printCounts(of: index)
                report = clock.now + .seconds(60)
            }
        }
        printCounts(of: index)
    }

    private func save(_ item: FuzzCase, index: Int) throws {
        try Data(item.bytes).write(to: folder.appending(path: "\(seed)-\(index).jpg"))
    }

    private func printCounts(of total: Int) {
        print("\(total) cases, \(failures) failures")
        for (verdict, count) in counts.sorted(by: { $0.value > $1.value }) {
            print("  \(count) \(verdict)")
        }
        fflush(nil)
    }
}
