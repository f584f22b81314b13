import Foundation
import Halcyon
import HalcyonWork

/// Encodes pictures and writes them to the plan's destination.
struct OutputWriter: Sendable {
    /// The quality when none is asked for: no difference to be seen, at a third of the bytes of 1.
    static let defaultQuality = 0.9

    let plan: OutputPlan
    /// The source files of this run, which pictures written to a folder must not replace.
    private let sources: Set<FileIdentity>

    init(plan: OutputPlan, sources: [ImageArgument]) {
        self.plan = plan
        self.sources = Set(
            sources.compactMap { argument in
                guard case .success(let source) = argument.source, let url = source.url,
                    url.isFileURL
                else { return nil }
                return FilePath(url).flatMap(FileIdentity.init)
            })
    }

    /// Writes `image` and returns the file's path; `nil` if the plan writes nothing.
    ///
    /// - Parameter original: The data the image was decoded from, for its metadata.
    /// - Throws: `LoadFailure`, and `CancellationError` before anything was written.
    func write(
        _ image: Image, original: Data, format: ImageFormat, of job: LoadBatch.Job
    ) async throws -> String? {
        guard plan.destination != .nowhere else { return nil }
        try Task.checkCancellation()
        let encoded = try await BlockingWork.run { () -> (target: OutputPlan.Target, data: Data)? in
            guard let target = plan.target(for: job.index, source: format) else { return nil }
            try prepare(target)
            let data = try encode(image, original, as: target.format, at: job.argument.label)
            return (target, data)
        }
        guard let (target, data) = encoded else { return nil }
        try Task.checkCancellation()
        do {
            try await BlockingWork.run { try PendingFile.write(data, to: target.path) }
        } catch {
            throw unwritable(target.path, ErrorText.of(error))
        }
        return target.path
    }

    /// The image as a file, without metadata unless that was asked for.
    ///
    /// - Parameter place: The path or URL of `original`, as people are told it.
    private func encode(
        _ image: Image, _ original: Data, as format: ImageFormat, at place: String
    ) throws -> Data {
        // What has metadata that cannot be read is written without it.
        let metadata = (try? ImageMetadata(reading: original)) ?? ImageMetadata()
        let options = ImageEncodingOptions(
            quality: plan.quality ?? Self.defaultQuality,
            metadata: plan.keepsMetadata ? metadata : nil)
        do {
            return try reencodable(image, metadata: metadata, format).kf.data(
                format: format, options: options)
        } catch {
            let message = LoadFailure(error, at: place).message
            throw LoadFailure(code: LoadFailure.encodingFailed, message: message)
        }
    }

    /// Returns the image without its original animated file, which would be written unchanged, if
    /// quality or metadata options require encoding it again.
    private func reencodable(
        _ image: Image, metadata: ImageMetadata, _ format: ImageFormat
    ) throws -> Image {
        guard let timing = image.animation else { return image }
        let hidesMetadata = !plan.keepsMetadata && metadata != ImageMetadata()
        guard hidesMetadata || (plan.quality != nil && format != .GIF && format != .PNG) else {
            return image
        }
        return Image(frames: try image.allBitmaps(), timing: timing, scale: image.scale) ?? image
    }

    private func prepare(_ target: OutputPlan.Target) throws {
        guard case .directory(let folder, _) = plan.destination else { return }
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
        } catch {
            var isFolder: ObjCBool = false
            let isThere = FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder)
            throw unwritable(
                folder, isThere && !isFolder.boolValue ? "it is no folder" : ErrorText.of(error))
        }
        if let file = FilePath(argument: target.path).flatMap(FileIdentity.init),
            sources.contains(file)
        {
            throw unwritable(target.path, "it is a source of this run")
        }
    }

    private func unwritable(_ path: String, _ reason: String) -> LoadFailure {
        LoadFailure(
            code: LoadFailure.outputNotWritable, message: "\(path) cannot be written: \(reason)")
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
