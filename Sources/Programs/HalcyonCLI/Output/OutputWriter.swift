import Foundation
import Halcyon
import HalcyonWork
import Synchronization

/// Encodes pictures and writes them to the plan's destination.
struct OutputWriter: Sendable {
    /// The qualities when none is asked for: those at which a file is as like the image (SSIM) as JPEG is at the 75 of
    /// 100 that vipsthumbnail writes.
    private static let usualQualities: KeyValuePairs<ImageFormat, Double> = [
        .JPEG: 0.75, .WebP: 0.76, .AVIF: 0.6, .HEIC: 0.41, .JPEGXL: 0.8,
    ]

    static func usualQuality(of format: ImageFormat) -> Double {
        usualQualities.first { $0.key == format }?.value ?? 1
    }

    /// All of them, as people are told.
    static var usualQualityText: String {
        usualQualities.map { "\($0.value) for \($0.key.rawValue)" }.joined(separator: ", ")
    }

    let plan: OutputPlan
    let files = RunFiles()

    init(plan: OutputPlan, sources: [ImageArgument]) {
        self.plan = plan
        for source in sources { files.add(source) }
    }

    /// Adds a source that was found in a folder later; returns its place among the outputs.
    func add(_ source: ImageArgument) -> Int {
        files.add(source)
        guard case .directory(_, let names) = plan.destination else { return 0 }
        return names.add(source)
    }

    enum Outcome: Sendable {
        /// `nil` if the plan writes nothing; with the quality that was found, if one was searched for.
        case written(FilePath?, LoadRow.FoundQuality?)
        /// An existing file, which is left as it is.
        case left(FilePath)
    }

    /// The existing file that is to be left, as far as it is known before the source is loaded.
    /// - Throws: `LoadFailure` for a file that may not be written.
    func fileToLeave(for job: LoadBatch.Job) async throws -> FilePath? {
        guard let path = plan.path(for: job.place, in: plan.format) else { return nil }
        return try await BlockingWork.run { try isLeft(path) ? path : nil }
    }

    /// Writes `image` to its file.
    ///
    /// - Parameters:
    ///   - original: The data the image was decoded from, for its metadata.
    ///   - format: The format of the source.
    ///   - isProcessed: Whether `image` is something else than `original` shows.
    /// - Throws: `LoadFailure`, and `CancellationError` before anything was written.
    func write(
        _ image: Image, original: Data, format source: ImageFormat, isProcessed: Bool,
        of job: LoadBatch.Job
    ) async throws -> Outcome {
        let format = plan.format(for: source)
        let encode = { @Sendable () throws -> Encoded in
            try self.encode(
                image, original, as: format, isProcessed: isProcessed, at: job.argument.label)
        }
        if case .standardOutput = plan.destination {
            try await BlockingWork.run {
                let data = try encode()
                do {
                    try job.console.write(data.file)
                } catch {
                    // The console tells of that, and has stopped the work.
                    throw CancellationError()
                }
            }
        }
        guard let path = plan.path(for: job.place, in: format) else {
            return .written(nil, nil)
        }
        try Task.checkCancellation()
        let encoded = try await BlockingWork.run { () -> Encoded? in
            if try isLeft(path) { return nil }
            guard ImageFormat.writable.contains(format) else {
                throw unwritable(path, "\(format.rawValue) is no format that can be written")
            }
            if case .directory = plan.destination { try makeFolders(of: path) }
            let encoded = try encode()
            if case .inPlace = plan.destination {
                try checkLoss(of: image, as: encoded.file, format, at: path)
            }
            return encoded
        }
        guard let encoded else { return .left(path) }
        try Task.checkCancellation()
        do {
            try await BlockingWork.run {
                let isOurs = files.hasMade(path)
                try PendingFile.write(encoded.file, to: path, replacing: mayReplace || isOurs)
                files.noteMade(path)
            }
        } catch {
            // Somebody else may have made the file meanwhile.
            if !mayReplace, try await BlockingWork.run({ try isLeft(path) }) { return .left(path) }
            throw unwritable(path, ErrorText.of(error))
        }
        return .written(path, encoded.quality)
    }

    private typealias Encoded = (file: Data, quality: LoadRow.FoundQuality?)

    /// Throws `LoadFailure` when the file at `path` would lose frames or pages by being replaced with `file`.
    private func checkLoss(
        of image: Image, as file: Data, _ format: ImageFormat, at path: FilePath
    ) throws {
        let count = ImageInformation.countPictures(in: try path.read())
        // Encoders of animations may join equal frames.
        let frames = Self.animatedFormats.contains(format) ? image.frameCount : 1
        let kept = max(frames, ImageInformation.countPictures(in: file))
        guard count > kept else { return }
        let noun = format == .TIFF ? "pages" : "frames"
        throw unwritable(
            path,
            "it has \(count) \(noun), and only \(kept) would be written as \(format.rawValue); "
                + "write another file with --output or --output-directory")
    }

    /// The formats that are written with all frames.
    private static let animatedFormats: Set<ImageFormat> = [.GIF, .WebP, .PNG]

    /// The image as a file, without metadata unless that was asked for.
    ///
    /// - Parameter place: The path or URL of `original`, as people are told it.
    private func encode(
        _ image: Image, _ original: Data, as format: ImageFormat, isProcessed: Bool,
        at place: String
    ) throws -> Encoded {
        if plan.isLossless, !format.isLossless {
            throw LoadFailure(code: LoadFailure.encodingFailed, message: format.lossText)
        }
        if let target = plan.target, !CompressionTarget.formats.contains(format) {
            throw LoadFailure(
                code: LoadFailure.encodingFailed, message: format.qualityText(target))
        }
        // What has metadata that cannot be read is written without it.
        let found = try? ImageMetadata(reading: original)
        let metadata = found ?? ImageMetadata()
        let hidesMetadata = !plan.keepsMetadata && found != ImageMetadata()
        let options = ImageEncodingOptions(
            quality: plan.quality ?? Self.usualQuality(of: format),
            isLossless: plan.isLossless, metadata: plan.keepsMetadata ? metadata : nil)
        do {
            if let target = plan.target {
                if case .bytes(let most) = target, !isProcessed, !hidesMetadata,
                    original.count <= most, original.kf.imageFormat == format, isWhole(original)
                {
                    return (original, nil)
                }
                let found = try image.kf.data(format: format, target: target, options: options)
                return (found.data, LoadRow.FoundQuality(found))
            }
            let image = try reencodable(image, original, hidesMetadata: hidesMetadata, format)
            return (try image.kf.data(format: format, options: options), nil)
        } catch {
            let message = LoadFailure(error, at: place).message
            throw LoadFailure(code: LoadFailure.encodingFailed, message: message)
        }
    }

    /// Returns the image without its original animated file, which would be written unchanged, if
    /// quality or metadata options require encoding it again, or it is cut short.
    private func reencodable(
        _ image: Image, _ original: Data, hidesMetadata: Bool, _ format: ImageFormat
    ) throws -> Image {
        guard image.kf.imageFrameCount != nil,
            hidesMetadata || (plan.quality != nil && format != .GIF && format != .PNG)
                || !isWhole(original)
        else { return image }
        guard let timing = image.animation else {
            return Image(bitmap: try image.bitmap(), scale: image.scale)
        }
        return Image(frames: try image.allBitmaps(), timing: timing, scale: image.scale) ?? image
    }

    /// Whether a file is not known to be cut short.
    private func isWhole(_ file: Data) -> Bool {
        (try? ImageInformation(of: file))?.isComplete ?? true
    }

    private var mayReplace: Bool {
        if case .inPlace = plan.destination { true } else { plan.existing == .force }
    }

    /// Whether there is a file at `path` that is to be left.
    /// - Throws: `LoadFailure` when there is one and nothing was said of that, or it is a source.
    private func isLeft(_ path: FilePath) throws -> Bool {
        if case .inPlace = plan.destination { return false }
        // A link that leads nowhere is there, too; devices and pipes are written to.
        guard let link = try? path.status(following: false) else { return false }
        let kind = (try? path.status())?.st_mode ?? link.st_mode
        guard [S_IFREG, S_IFLNK].contains(kind & S_IFMT) else { return false }
        if files.hasMade(path) { return false }
        if plan.existing == .noClobber { return true }
        if files.hasSource(path) {
            throw unwritable(path, "it is a source of this run; only --in-place replaces those")
        }
        if plan.existing == .force { return false }
        throw unwritable(path, "it exists; --force replaces it, --no-clobber skips it")
    }

    /// Makes the folders that lead to a file.
    private func makeFolders(of file: FilePath) throws {
        let separator = UInt8(ascii: "/")
        for end in file.bytes.indices.dropFirst() where file.bytes[end] == separator {
            guard let folder = FilePath(bytes: file.bytes[..<end]) else { continue }
            if let status = try? folder.status() {
                if status.st_mode & S_IFMT == S_IFDIR { continue }
                throw unwritable(folder, "it is no folder")
            }
            let isMade = folder.withCString { mkdir($0, 0o777) } == 0
            // Another job may have made it meanwhile.
            if !isMade, errno != EEXIST { throw unwritable(folder, POSIXError.current.text) }
        }
    }

    private func unwritable(_ path: FilePath, _ reason: String) -> LoadFailure {
        LoadFailure(
            code: LoadFailure.outputNotWritable,
            message: "\(path.description) cannot be written: \(reason)")
    }
}

/// The files of a run: its sources, which are not replaced by accident, and its outputs, which are replaced when a
/// source has changed meanwhile.
final class RunFiles: Sendable {
    private let state = Mutex((sources: Set<FileIdentity>(), outputs: Set<[[UInt8]]>()))

    func add(_ source: ImageArgument) {
        guard let file = source.file.flatMap(FileIdentity.init) else { return }
        _ = state.withLock { $0.sources.insert(file) }
    }

    func noteMade(_ path: FilePath) {
        let names = [path.components, path.realComponents]
        state.withLock { $0.outputs.formUnion(names) }
    }

    func hasSource(_ path: FilePath) -> Bool {
        guard let file = FileIdentity(path) else { return false }
        return state.withLock { $0.sources.contains(file) }
    }

    /// - Parameter following: Whether it is asked of the file that symbolic links lead to.
    func hasMade(_ path: FilePath, following: Bool = false) -> Bool {
        let names = following ? path.realComponents : path.components
        return state.withLock { $0.outputs.contains(names) }
    }
}

/// The identity of a file, equal for all paths to it.
struct FileIdentity: Hashable, Sendable {
    private let device: UInt
    private let inode: UInt

    init?(_ path: FilePath) {
        guard let status = try? path.status() else { return nil }
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
    }
}

/// Sorts results that arrive in any order into the order of the requests.
struct ResultSequencer<Result> {
    private var waiting: [Int: Result] = [:]
    private var next = 0

    mutating func finish(_ index: Int, with result: Result) -> [Result] {
        waiting[index] = result
        var ready: [Result] = []
        while let result = waiting.removeValue(forKey: next) {
            ready.append(result)
            next += 1
        }
        return ready
    }
}
