import ArgumentParser
import Foundation
import Halcyon
import HalcyonWork

struct LoadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Load images through the cache, process them and write them.",
        discussion: LoadHelp.discussion)

    @Argument(help: .value("source", "An http or https URL, a file, or a data URI."))
    var sources: [String]

    @Option(
        name: .customLong("processor"),
        help: .value(
            "spec", "A processor to apply, such as resize:200x100:fit; repeat it for a chain."))
    var processors: [String] = []

    @Option(
        name: .shortAndLong,
        help: .value("file", "The file to write the image of a single source to."))
    var output: String?

    @Option(
        help: .value("dir", "The folder to write the images to; it is created when it is missing."))
    var outputDirectory: String?

    @Option(
        help: .value(
            "format",
            """
            The format to write; else the output file's extension decides, else the format of the \
            source, or PNG where that cannot be written.
            """))
    var format: String?

    @Option(
        help: .value(
            "0...1",
            """
            0 (smallest) to 1 (best), for formats that lose something; \
            \(OutputWriter.defaultQuality) by default.
            """))
    var quality: Double?

    @Flag(
        help: """
            Write the source's EXIF and XMP data too; nothing of it is written otherwise. (Where a \
            picture was taken is lost if it was first loaded without this option, unless \
            --force-refresh loads it again.)
            """)
    var keepMetadata = false

    @OptionGroup(title: "Cache")
    var cacheLocation: CacheLocation

    @Flag(help: "Load again what is cached.")
    var forceRefresh = false

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

    func validate() throws {
        _ = try request()
    }

    func run() async throws {
        let request = try request()
        try await CommandRunner.countFailures(quiet: quiet, request.run)
    }

    /// - Throws: `ValidationError` for invalid values and combinations.
    func request() throws -> LoadRequest {
        try checkRanges()
        try checkCombinations()
        let arguments = sources.map(ImageArgument.init)
        return LoadRequest(
            command: self, arguments: arguments,
            processor: try ImageProcessorSpec.parse(option: processors),
            plan: OutputPlan(
                destination: destination(for: arguments), format: try outputFormat(),
                quality: quality, keepsMetadata: keepMetadata))
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
        try check("--quality", quality, "from 0 to 1") { (0...1).contains($0) }
        let seconds = "a number of seconds above 0"
        try check("--timeout", timeout, seconds) { $0 > 0 && $0.isFinite }
        try check("--max-pixels", maxPixels, "at least 1") { $0 >= 1 }
        let most = 1 << 30
        try check("--max-memory", maxMemory, "a number of MiB from 1 to \(most)") {
            (1...most).contains($0)
        }
        try check("--decoding-timeout", decodingTimeout, seconds) { $0 > 0 && $0 <= 1e9 }
    }

    private func checkCombinations() throws {
        if output != nil && outputDirectory != nil {
            throw ValidationError("Give either --output or --output-directory, not both.")
        }
        if output != nil && sources.count > 1 {
            throw ValidationError(
                "--output is for one source; use --output-directory for \(sources.count).")
        }
        if output == "-" { throw ValidationError("--output needs a file; “-” is none.") }
        for (name, value) in [
            ("--output", output), ("--output-directory", outputDirectory), ("--trace", trace),
        ] where value?.isEscaped == true {
            throw ValidationError("\(name): names of files that are written must be UTF-8.")
        }
        try check(
            fileFor: "output", output, advice: "use --output-directory for it, or name a file in it"
        )
        try check(fileFor: "trace", trace)
        if outputDirectory?.isEmpty == true {
            throw ValidationError("The name of the output directory is empty.")
        }
        if output == nil && outputDirectory == nil {
            let idle = [
                (format != nil, "--format"), (quality != nil, "--quality"),
                (keepMetadata, "--keep-metadata"),
            ].first { $0.0 }
            if let idle { throw ValidationError("\(idle.1) needs --output or --output-directory.") }
        }
        if forceRefresh && onlyFromCache {
            throw ValidationError("--force-refresh and --only-from-cache exclude each other.")
        }
    }

    private func outputFormat() throws -> ImageFormat? {
        if let format { return try writable(ImageFormat(argument: format), named: format) }
        let pathExtension = output.map { URL(fileURLWithPath: $0).pathExtension } ?? ""
        if pathExtension.isEmpty { return nil }
        return try writable(ImageFormat(fileExtension: pathExtension), named: pathExtension)
    }

    private func writable(_ format: ImageFormat?, named name: String) throws -> ImageFormat {
        let writable = ImageFormat.writable
        if let format, writable.contains(format) { return format }
        let names = writable.map(\.fileExtension).joined(separator: ", ")
        throw ValidationError("“\(name)” is no format that can be written; these are: \(names).")
    }

    private func destination(for arguments: [ImageArgument]) -> OutputPlan.Destination {
        if let output { return .file(output) }
        guard let outputDirectory else { return .nowhere }
        var names = OutputNames()
        return .directory(outputDirectory, names: arguments.map { names.next(for: $0.ownName) })
    }
}
