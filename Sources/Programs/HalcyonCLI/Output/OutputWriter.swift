import Foundation
import Halcyon
import HalcyonWork

/// Encodes pictures and writes them to the plan's destination.
struct OutputWriter: Sendable {
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
    /// - Parameters:
    ///   - original: The data the image was decoded from, for its metadata.
    ///   - format: The format of `original`.
    ///   - job: The load of the source.
    /// - Throws: `LoadFailure`, and `CancellationError` before anything was written.
    func write(
        _ image: Image, original: Data, format: ImageFormat, of job: LoadBatch.Job
    ) async throws -> String? {
        guard plan.destination != .nowhere else { return nil }
        try Task.checkCancellation()
        let encoded = try await BlockingWork.run { () -> (target: OutputPlan.Target, data: Data)? in
            let writable = ImageFormat.writable
            guard let target = plan.target(for: job.index, source: format, writable: writable)
            else { return nil }
            try prepare(target)
            let encoder = OutputEncoder(
                format: target.format, quality: plan.quality, keepsMetadata: plan.keepsMetadata)
            return (target, try encoder.encode(image, original: original, at: job.argument.label))
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

    /// Creates the folder, and refuses to replace a source.
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

    /// `nil` if the file does not exist.
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

    /// Adds the result of the request at `index`, and returns all results that are next in order.
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
