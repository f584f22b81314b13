import ArgumentParser
import Foundation
import Halcyon
import HalcyonWork

/// The treatment of existing files.
enum ExistingFiles: EnumerableFlag {
    case force
    case noClobber

    static func help(for value: ExistingFiles) -> ArgumentHelp? {
        switch value {
        case .force: "Replace existing files; without this they are errors."
        case .noClobber: "Leave existing files as they are, and skip their sources."
        }
    }
}

enum MetadataChoice: EnumerableFlag {
    case strip
    case keepMetadata

    static func help(for value: MetadataChoice) -> ArgumentHelp? {
        switch value {
        case .strip: "Write no EXIF and XMP data, as by default."
        case .keepMetadata:
            """
            Write the source's EXIF and XMP data too; nothing of it is written otherwise. (Where a \
            picture was taken is lost if it was first loaded without this option, unless \
            --force-refresh loads it again.)
            """
        }
    }
}

/// The destination and the encoding of a command's images.
struct OutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: .value(
            "file", "The file to write the image of a single source to; - for standard output."))
    var output: String?

    @Option(
        help: .value("dir", "The folder to write the images to; it is created when it is missing."))
    var outputDirectory: String?

    @Option(
        help: .value(
            "template",
            """
            The names of the files in that folder, such as {name}-400.{ext}, where {name} is the \
            source's own and {ext} the extension of the format; {name}.{ext} by default.
            """))
    var name: String?

    @Flag(help: "Write each image over the file that it was loaded from, in its format.")
    var inPlace = false

    @Flag var existing: ExistingFiles?

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
            0 (smallest) to 1 (best), for formats that lose something; by default \
            \(OutputWriter.usualQualityText), which look alike.
            """))
    var quality: Double?

    @Option(
        help: .value(
            "size",
            """
            The most bytes of a file, such as 90000, 200k or 1.5M: the quality is searched for, from \
            0.3 to 0.95, and told.
            """),
        transform: ByteCount.parse)
    var maxBytes: Int?

    @Option(
        help: .value(
            "0...1",
            """
            The least structural similarity of a file to the image: 0.99 is hardly to be told from it. The \
            quality is searched for, from 0.3 to 0.95, and told.
            """))
    var targetSSIM: Double?

    @Flag(
        help: """
            Write WebP and JPEG XL without any loss; PNG and TIFF have none, and other formats are \
            refused.
            """)
    var lossless = false

    @Flag var metadata: MetadataChoice?

    var isStandardOutput: Bool { output == "-" }

    func validate() throws {
        try check("--quality", quality, "from 0 to 1") { (0...1).contains($0) }
        try check("--target-ssim", targetSSIM, "from 0 to 1") { (0...1).contains($0) }
        if output != nil && outputDirectory != nil {
            throw ValidationError("Give either --output or --output-directory, not both.")
        }
        if isStandardOutput && StandardStream.output.isTerminal {
            throw ValidationError("Standard output is a terminal; redirect it or name a file.")
        }
        try check(
            fileFor: "output", output, advice: "use --output-directory for it, or name a file in it"
        )
        if outputDirectory?.isEmpty == true {
            throw ValidationError("The name of the output directory is empty.")
        }
        try checkCombinations()
        _ = try plan(for: [])
    }

    private func checkCombinations() throws(ValidationError) {
        let options: [(name: String, isGiven: Bool, isForInPlace: Bool)] = [
            ("--format", format != nil, false), ("--name", name != nil, false),
            ("--force", existing == .force, false), ("--no-clobber", existing == .noClobber, false),
            ("--quality", quality != nil, true), ("--lossless", lossless, true),
            ("--max-bytes", maxBytes != nil, true), ("--target-ssim", targetSSIM != nil, true),
            ("--keep-metadata", metadata == .keepMetadata, true),
            ("--strip", metadata == .strip, true),
        ]
        let hasDestination = output != nil || outputDirectory != nil
        if inPlace, hasDestination {
            throw ValidationError("--in-place needs no --output and no --output-directory.")
        }
        if inPlace, let other = options.first(where: { $0.isGiven && !$0.isForInPlace }) {
            throw ValidationError("--in-place and \(other.name) exclude each other.")
        }
        if !inPlace, !hasDestination, let idle = options.first(where: { $0.isGiven }) {
            throw ValidationError("\(idle.name) needs --output or --output-directory.")
        }
        let qualities = ["--quality", "--lossless", "--max-bytes", "--target-ssim"]
        let given = options.filter { $0.isGiven && qualities.contains($0.name) }.map(\.name)
        if given.count > 1 {
            throw ValidationError("\(given[0]) and \(given[1]) exclude each other.")
        }
        if name != nil && outputDirectory == nil {
            throw ValidationError("--name needs --output-directory.")
        }
    }

    /// - Throws: `ValidationError` for a format that cannot be written, and a template that is none.
    func plan(for arguments: [ImageArgument]) throws(ValidationError) -> OutputPlan {
        let format = try writtenFormat()
        if lossless, let format, !format.isLossless {
            throw ValidationError(format.lossText)
        }
        if let target, let format, !CompressionTarget.formats.contains(format) {
            throw ValidationError(format.qualityText(target))
        }
        let destination: OutputPlan.Destination
        if isStandardOutput {
            destination = .standardOutput
        } else if let file = output.flatMap(FilePath.init(argument:)) {
            destination = .file(file)
        } else if let folder = outputDirectory.flatMap(FilePath.init(argument:)) {
            let template = try name.map(NameTemplate.init) ?? .plain
            destination = .directory(
                folder, OutputNames(of: arguments, template, format: format))
        } else {
            destination = inPlace ? .inPlace(arguments.map(\.file)) : .nowhere
        }
        return OutputPlan(
            destination: destination, format: format, quality: quality, target: target,
            isLossless: lossless, keepsMetadata: metadata == .keepMetadata, existing: existing)
    }

    private var target: CompressionTarget? {
        maxBytes.map { .bytes($0) } ?? targetSSIM.map { .ssim($0) }
    }

    /// The format that the option names, or the name of the file.
    private func writtenFormat() throws(ValidationError) -> ImageFormat? {
        if let format { return try Self.writable(ImageFormat(argument: format), named: format) }
        let template = name.flatMap { $0.contains("{ext}") ? nil : $0 }
        let path = (output ?? template).flatMap(FilePath.init(argument:))
        guard let path, !path.fileExtension.isEmpty else { return nil }
        return try Self.writable(
            ImageFormat(fileExtension: path.fileExtension), named: path.fileExtension)
    }

    private static func writable(
        _ format: ImageFormat?, named name: String
    ) throws(ValidationError) -> ImageFormat {
        let writable = ImageFormat.writable
        if let format, writable.contains(format) { return format }
        let names = writable.map(\.fileExtension).joined(separator: ", ")
        throw ValidationError("“\(name)” is no format that can be written; these are: \(names).")
    }
}
