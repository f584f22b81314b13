import ArgumentParser
import Foundation
import HalcyonWork

/// Becomes `halcyon-server serve`, or the command about a running server that is named.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serves pictures by their URLs (the program halcyon-server).",
        discussion: "serve health, serve purge and serve warm are about a server that runs.")

    @Argument(parsing: .captureForPassthrough, help: "See halcyon-server serve --help.")
    var arguments: [String] = []

    func run() throws {
        let isAboutAnother = ["health", "purge", "warm"].contains(arguments.first)
        try ServerProgram.become(isAboutAnother ? arguments : ["serve"] + arguments)
    }
}

struct SignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Signs the URL of a served picture (the program halcyon-server).")

    @Argument(parsing: .captureForPassthrough, help: "See halcyon-server sign --help.")
    var arguments: [String] = []

    func run() throws {
        try ServerProgram.become(["sign"] + arguments)
    }
}

/// The program `halcyon-server`, which is one of its own so that this one stays small.
enum ServerProgram {
    static let name = "halcyon-server"

    /// Replaces this process by the program, with a command and its arguments.
    /// - Throws: `ExitCode`, after printing an error.
    static func become(_ arguments: [String]) throws {
        guard let program = find() else {
            try? StandardStream.error.write(
                "halcyon: \(name) is not installed: it is neither beside this program nor in PATH.\n"
            )
            throw ExitCode(69)
        }
        let code = withCStrings([program] + arguments) { pointers in
            execv(program, pointers)
            return errno
        }
        let reason = String(cString: strerror(code))
        try? StandardStream.error.write("halcyon: \(program) cannot be started: \(reason).\n")
        throw ExitCode(69)
    }

    /// Beside this program, else in `PATH`.
    static func find(
        beside folder: String? = ownFolder,
        path: String? = ProcessInfo.processInfo.environment["PATH"]
    ) -> String? {
        let folders =
            [folder].compactMap(\.self) + (path ?? "").split(separator: ":").map(String.init)
        return folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    private static var ownFolder: String? {
        // Without it, PATH is all there is.
        guard
            let program = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/self/exe")
        else { return nil }
        return (program as NSString).deletingLastPathComponent
    }
}
