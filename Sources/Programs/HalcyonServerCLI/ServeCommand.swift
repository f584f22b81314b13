import ArgumentParser
import Foundation
import HalcyonSamples
import HalcyonServer
import HalcyonWork
import Logging

/// Serves until a signal comes.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serves pictures (the default command).")

    @OptionGroup var settings: ConfigurationOptions

    @Option(help: "Where to listen: HOST:PORT or unix:PATH. May be repeated.")
    var bind: [String] = []

    @Option(help: "Where to tell of health and metrics: HOST:PORT, unix:PATH or off.")
    var opsBind: String?

    @Option(help: "The folder that local: sources are below.")
    var localRoot: String?

    @Option(help: "What may be fetched, such as https://*.example.com. May be repeated.")
    var allowSource: [String] = []

    @Flag(help: "Takes URLs without signature; on loopback addresses only.")
    var unsigned = false

    @Flag(
        inversion: .prefixedNo,
        help: "A page for trying things out, at /playground/. Who can open it can sign.")
    var playground: Bool?

    @Option(help: "The folder of the caches.")
    var cacheDirectory: String?

    @Option(help: "trace, debug, info, notice, warning or error.")
    var logLevel: String?

    @Option(help: "text or json.")
    var logFormat: String?

    @Flag(help: "Checks the configuration and ends.")
    var check = false

    @Flag(help: "Prints the settings in effect, without secrets, and ends.")
    var printConfig = false

    func run() async throws {
        let (signals, noting) = AsyncStream.makeStream(of: Int32.self)
        // One that asks for new settings must not end a server that does not listen yet.
        let reloads = ProcessSignals.listen(to: [SIGHUP]) { noting.yield($0) }
        defer { reloads.cancel() }
        // A second signal ends the program while pictures are made.
        defer { ProgramEnd.skipsDestruction() }
        let (configuration, isDemonstration) = try configuring(effective)
        if printConfig {
            let format = LogWriter.format(of: configuration.log)
            return print(configuration.effective(logFormat: format).json)
        }
        let log = LogWriter(configuration.log)
        let server = try configuring {
            try ImageServer(configuration: configuration, logger: log.logger)
        }
        if check { return print("The configuration is good.") }
        // Before the server listens: a signal may follow its readiness at once.
        let ends = ProcessSignals.listen(to: [SIGTERM, SIGINT]) { noting.yield($0) }
        defer { ends.cancel() }
        let listening: ListeningServer
        do {
            listening = try await ListeningServer.start(server)
        } catch let error as ListenError {
            complain(error.description)
            throw error.isSetting ? badConfiguration : ExitCode.failure
        } catch {
            complain("cannot listen: \(error)")
            throw ExitCode.failure
        }
        if isDemonstration {
            print(Self.introduction(listening, configuration))
            // Into a pipe or a file it would be written at the end.
            fflush(nil)
        }
        log.logger.notice(
            "listening",
            metadata: [
                "on": "\(configuration.bind.map(\.description).joined(separator: " "))",
                "operations": "\(configuration.operationsBind?.description ?? "off")",
            ])
        ServiceManager.tell("READY=1")
        let exitCode = await serve(listening, server, until: signals, log.logger)
        await log.finish()
        if exitCode != 0 { throw ExitCode(exitCode) }
    }

    /// The settings with the flags, and whether they serve the samples for want of any source.
    private func effective() throws -> (ImageServerConfiguration, Bool) {
        var configuration = try settings.read(warn: complain)
        if !bind.isEmpty { configuration.bind = try bind.map { try ListenAddress(typed: $0) } }
        if let opsBind {
            configuration.operationsBind =
                opsBind == "off" ? nil : try ListenAddress(typed: opsBind)
        }
        if let localRoot { configuration.sources.local.root = localRoot }
        configuration.sources.http.allow += allowSource
        if unsigned { configuration.signature.isRequired = false }
        if let playground { configuration.playground = playground }
        if let cacheDirectory { configuration.cache.directory = cacheDirectory }
        if let logLevel { try configuration.set("log.level", to: logLevel) }
        if let logFormat { try configuration.set("log.format", to: logFormat) }

        let hasSources =
            configuration.sources.local.root != nil || !configuration.sources.http.allow.isEmpty
            || configuration.iiif.isEnabled
        let hasKeys =
            !configuration.signature.keys.isEmpty || configuration.signature.keysFile != nil
        guard !hasSources, !hasKeys, settings.config == nil else { return (configuration, false) }
        configuration.sources.local.root = try SamplePictures().directory.path
        configuration.signature.isRequired = false
        return (configuration, true)
    }

    private static func introduction(
        _ listening: ListeningServer, _ configuration: ImageServerConfiguration
    ) -> String {
        let base: String =
            if case .tcp(let host, _) = configuration.bind.first, let port = listening.ports.first {
                "http://\(ListenAddress.tcp(host: host, port: port))"
            } else {
                "http://localhost"
            }
        return """
            The sample pictures are served on \(base)/playground/, to this machine alone.
              A small one:    curl -o small.webp \(base)/_/rs:fit:300:300/plain/local:///china.jpg@webp
              Typed by hand:  \(base)/-/w=300,h=300,fit=crop/local:///chelsea.png
              Your pictures:  halcyon-server --unsigned --local-root FOLDER
              For everybody:  docs/server/server.md tells how to sign URLs, and of all settings.
            """
    }

    /// Reads the settings again, and takes those that a running server can take.
    private func reload(_ server: ImageServer, _ logger: Logger) {
        do {
            let others = try server.reload(try effective().0)
            var metadata: Logger.Metadata = [:]
            if !others.isEmpty { metadata["afterRestart"] = "\(others.joined(separator: " "))" }
            logger.notice("reloaded", metadata: metadata)
        } catch {
            logger.error("The settings stay as they are", metadata: ["cause": "\(error)"])
        }
    }

    /// The exit code: 0 when all requests ended by themselves after the first signal, 1 when they were
    /// ended, 130 after a second signal.
    private func serve(
        _ listening: ListeningServer, _ server: ImageServer, until signals: AsyncStream<Int32>,
        _ logger: Logger
    ) async -> Int32 {
        let exitCode = OneShot<Int32>()
        let firstSignal = OneShot<Int32>()
        let answering = Task {
            for await signal in signals {
                guard signal != SIGHUP else {
                    reload(server, logger)
                    continue
                }
                guard firstSignal.give(signal) else {
                    exitCode.give(130)
                    return
                }
                logger.notice(
                    "stopping", metadata: ["signal": "\(ProcessSignals.name(of: signal))"])
                ServiceManager.tell("STOPPING=1")
                Task { exitCode.give(await listening.stop() ? 0 : 1) }
            }
        }
        defer { answering.cancel() }
        Task {
            do {
                try await listening.waitUntilEnded()
                // After a signal, the task that stops the server sets the exit code.
                if !firstSignal.isGiven { exitCode.give(0) }
            } catch {
                logger.error("ended", metadata: ["cause": "\(error)"])
                exitCode.give(1)
            }
        }
        return await exitCode.value
    }
}
