import ArgumentParser
import Foundation
import HalcyonGTK

/// `scripts/benchmark gtk`: what lists of images cost the main thread.
@main struct HalcyonGTKBenchmarks: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "halcyon-gtk-benchmarks",
        abstract: "Measures what showing images costs the main thread.")

    @Option(help: "How often each figure is taken.")
    var rounds = 5

    func validate() throws {
        guard (1...1000).contains(rounds) else {
            throw ValidationError("--rounds takes a number from 1 to 1000.")
        }
    }

    func run() throws {
        let code = MainActor.assumeIsolated { Self.measure(rounds: rounds) }
        if code != 0 { throw ExitCode(code) }
    }

    @MainActor private static func measure(rounds: Int) -> Int32 {
        guard Application.hasDisplay else {
            FileHandle.standardError.write(Data("there is no display; see xvfb-run\n".utf8))
            return 69
        }
        var failure: Int32 = 0
        let application = Application { application in
            MainLoopMeter.start()
            let window = application.show(Window(title: "Benchmarks", width: 420, height: 600))
            Task {
                do {
                    try await Rows(window: window).run(rounds: rounds)
                } catch {
                    FileHandle.standardError.write(Data("\(error)\n".utf8))
                    failure = 1
                }
                application.quit()
            }
        }
        let code = application.run()
        return failure == 0 ? code : failure
    }
}
