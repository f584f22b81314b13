import ArgumentParser
import Foundation
import Halcyon
import HalcyonWork

struct LoadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Load images through the cache, process them and write them.",
        discussion: LoadHelp.discussion)

    @OptionGroup var sources: SourceArguments

    @Flag(
        help: """
            Go on with the pictures that appear or change in the folder that is the source, until Ctrl-C \
            ends it.
            """)
    var watch = false

    @Option(
        name: .customLong("processor"),
        help: .value(
            "spec", "A processor to apply, such as resize:200x100:fit; repeat it for a chain."))
    var processors: [String] = []

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @OptionGroup(title: "Cache")
    var cacheLocation: CacheLocation

    @Flag(help: "Load again what is cached.")
    var forceRefresh = false

    @Flag(help: "Neither use the disk cache nor store anything in it.")
    var noCache = false

    @Flag(help: "Load nothing; what is not cached is error 3006.")
    var onlyFromCache = false

    @Flag(
        help: """
            Let servers say how long a cached image is good for, and ask them whether one whose time is \
            over is still theirs. It is used all the same when the server cannot be reached.
            """)
    var httpCaching = false

    @Flag(
        help: """
            Keep the beginning of a download that breaks off, and load only the rest the next time, if \
            the server says that the picture is the same.
            """)
    var resume = false

    @Option(
        help: .value(
            "file",
            """
            Write when each source was looked for, downloaded, decoded and stored, as JSON that Perfetto \
            and chrome://tracing open.
            """))
    var trace: String?

    @Option(help: .value("n", "How many sources are loaded at a time."))
    var jobs = 6

    @Option(help: .value("seconds", "Seconds without data after which a download fails."))
    var timeout: Double?

    @Option(help: .value("count", "The most pixels an image may have; 150 million by default."))
    var maxPixels: Int?

    @Option(
        help: .value(
            "MiB", "The most memory that decoding an image may take, in MiB; 512 by default."))
    var maxMemory: Int?

    @Option(
        help: .value(
            "seconds", "Seconds after which decoding an image is given up; 30 by default."))
    var decodingTimeout: Double?

    @Flag(help: "Read PDF too (the first page).")
    var allowPDF = false

    @Flag(help: "Print one JSON object per source.")
    var json = false

    @Flag(name: .shortAndLong, help: "Show no progress and print failures only.")
    var quiet = false

    @OptionGroup(title: "Defaults")
    var configuration: ConfigurationOptions

    func validate() throws {
        try checkRanges()
        try check(fileFor: "trace", trace)
        let count = sources.sources.count
        if output.output != nil, count > 1 || sources.recursive {
            let many = sources.recursive ? "folders" : "\(count)"
            throw ValidationError(
                "--output is for one source; use --output-directory for \(many).")
        }
        if output.isStandardOutput && json {
            throw ValidationError("--json and --output - would both write to standard output.")
        }
        if forceRefresh && onlyFromCache {
            throw ValidationError("--force-refresh and --only-from-cache exclude each other.")
        }
        let cacheOptions = [
            ("--only-from-cache", onlyFromCache), ("--http-caching", httpCaching),
            ("--cache-directory", cacheLocation.directory != nil),
        ]
        if noCache, let other = cacheOptions.first(where: { $0.1 }) {
            throw ValidationError("--no-cache and \(other.0) exclude each other.")
        }
        for text in sources.sources where output.inPlace {
            let source = ImageArgument(text)
            if text == "-" || source.isNoFile {
                throw ValidationError("--in-place is for files; \(source.label) is none.")
            }
        }
        if watch { try checkWatch() }
        _ = try ImageProcessorSpec.parse(option: processors)
    }

    func run() async throws {
        if watch { return try await runWatch() }
        // Until the sources are there, Ctrl-C ends the process as it ends any other.
        let arguments = try await sources.read(allowsPDF: allowPDF, passingOver: outputFolder)
        let request = LoadRequest(
            command: self, arguments: arguments,
            processor: try ImageProcessorSpec.parse(option: processors),
            plan: try output.plan(for: arguments))
        try await CommandRunner.countFailures(quiet: quiet, request.run)
    }

    private func runWatch() async throws {
        guard let folder = watchedFolder else { return }
        let request = LoadRequest(
            command: self, arguments: [],
            processor: try ImageProcessorSpec.parse(option: processors),
            plan: try output.plan(for: []))
        let watch = try FolderWatch(
            folder, isRecursive: sources.recursive, passingOver: outputFolder)
        try await CommandRunner.run(quiet: quiet, stop: watch.stop) { console in
            try await request.run(watch, console)
        }
    }

    private var watchedFolder: FilePath? {
        guard sources.sources.count == 1 else { return nil }
        let source = ImageArgument(sources.sources[0])
        return source.isFolder ? source.file : nil
    }

    private var outputFolder: FilePath? {
        output.outputDirectory.flatMap(FilePath.init(argument:))
    }

    private func checkWatch() throws(ValidationError) {
        guard let folder = watchedFolder else {
            throw ValidationError("--watch is for one folder that exists.")
        }
        guard let outputFolder else { throw ValidationError("--watch needs --output-directory.") }
        if let watched = FileIdentity(folder), watched == FileIdentity(outputFolder) {
            throw ValidationError(
                "The output directory is the watched folder; name another one, perhaps in it.")
        }
        if trace != nil { throw ValidationError("--watch and --trace exclude each other.") }
    }

    var limits: DecodingLimits {
        var limits = DecodingLimits.default
        if let maxPixels { limits.maximumPixelCount = maxPixels }
        if let maxMemory { limits.maximumMemory = maxMemory << 20 }
        if let decodingTimeout { limits.maximumDuration = .seconds(decodingTimeout) }
        limits.allowsPDF = allowPDF
        return limits
    }

    private func checkRanges() throws {
        try check(jobs: jobs)
        let seconds = "a number of seconds above 0"
        try check("--timeout", timeout, seconds) { $0 > 0 && $0.isFinite }
        try check("--max-pixels", maxPixels, "at least 1") { $0 >= 1 }
        let most = 1 << 30
        try check("--max-memory", maxMemory, "a number of MiB from 1 to \(most)") {
            (1...most).contains($0)
        }
        try check("--decoding-timeout", decodingTimeout, seconds) { $0 > 0 && $0 <= 1e9 }
    }
}
