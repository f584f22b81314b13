import ArgumentParser
import Foundation

/// Runs the suite.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs the benchmarks and prints a table.",
        discussion: """
            A ratio is the peer's median divided by Halcyon's: above 1 Halcyon is better. Progress \
            goes to standard error. Run by scripts/benchmark from the folder of the repository.
            """)

    @Option(help: "Only benchmarks whose name contains this (any case); repeatable.")
    var filter: [String] = []

    @Option(help: "Rounds in which each contestant has one turn, after one to warm up.")
    var rounds = 15

    @Flag(help: "Print the names of the benchmarks and what is measured.")
    var list = false

    @Flag(help: "Print one JSON object for each row.")
    var json = false

    @Flag(help: "Leave the peers out, for a profiler; there are no rows then.")
    var alone = false

    @Flag(help: "Write the table into the document.")
    var markdown = false

    @Option(help: "The document for --markdown.")
    var document = "Benchmarks/Results/library.md"

    @Option(help: "The folder of the Python environment, the photographs and temporary files.")
    var folder = ".build-benchmarks"

    @Option(help: "The folder of the peers' programs.")
    var peers = "Benchmarks/Peers"

    func validate() throws {
        guard rounds > 0 else { throw ValidationError("There must be at least one round.") }
        guard !markdown || (filter.isEmpty && !alone) else {
            throw ValidationError("--markdown writes the whole table: without --filter or --alone.")
        }
        guard list || !selected.isEmpty else {
            throw ValidationError("No benchmark has that name; --list shows them all.")
        }
    }

    func run() async throws {
        if list {
            for benchmark in selected {
                print("\(benchmark.name) (\(benchmark.unit.symbol))\n    \(benchmark.conditions)")
            }
            return
        }

        // A worker that has died is an error of its benchmark, not the end of this program.
        signal(SIGPIPE, SIG_IGN)
        let workbench = try Workbench(
            folder: URL(filePath: folder), peerPrograms: URL(filePath: peers),
            alone: alone)
        // The description needs the peers' processes.
        let machine = alone ? Machine(lines: []) : await Machine.described(by: workbench)
        machine.lines.forEach(Progress.say)

        let runner = Runner(rounds: rounds, workbench: workbench, alone: alone)
        var rows: [Row] = []
        var failed: [String] = []
        for benchmark in selected {
            do {
                let new = try await runner.run(benchmark)
                if json { try new.forEach { try Self.write($0.json) } }
                new.forEach { Progress.say($0.line) }
                rows += new
            } catch {
                failed.append(benchmark.name)
                Progress.say("\(benchmark.name): failed: \(error)")
            }
        }
        await workbench.close()

        if !json, !markdown, !alone {
            try machine.lines.forEach(Self.write)
            try Self.write(Table(rows).text)
        }
        if let shortfalls = Shortfalls(rows).text { Progress.say(shortfalls) }
        guard failed.isEmpty else {
            throw BenchmarkError("Failed: \(failed.joined(separator: ", "))")
        }
        if markdown {
            try Document(URL(filePath: document)).replaceFigures(
                with: MarkdownFigures(machine: machine, rows: rows).text)
            Progress.say("Wrote \(document)")
        }
    }

    /// At once, so that rows measured so far survive whatever comes.
    private static func write(_ line: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
    }

    private var selected: [Benchmark] {
        guard !filter.isEmpty else { return Benchmark.all }
        return Benchmark.all.filter { benchmark in
            filter.contains { benchmark.name.localizedCaseInsensitiveContains($0) }
        }
    }
}
