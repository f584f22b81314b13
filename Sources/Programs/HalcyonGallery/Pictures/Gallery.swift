import Foundation
import Glibc
import Halcyon
import HalcyonSamples
import HalcyonWork
import Synchronization

/// The shared state of the pages: the pictures, the cache and the counts of load results.
@MainActor final class Gallery {
    /// The pictures to show; at least one.
    private(set) var pictures: [Picture]
    /// Whether the pictures are those of the user, not the samples.
    private(set) var isOwn: Bool
    /// Called when there are other pictures.
    var onPictures: [@MainActor () -> Void] = []
    /// Shows a picture by itself.
    var open: @MainActor (Picture) -> Void = { _ in }
    /// The pictures that are served slowly: the first files, or samples if only URLs are shown.
    let slow: [Picture]
    let origin: SampleServer
    /// The pictures that come with the program, in `/samples` of `origin`.
    let samples: SamplePictures
    let ledger = Ledger()
    let cache: ImageCache
    /// Files and folders that cannot be read.
    private(set) var failures: [FilePath.Failure]
    private var additions = 0
    private var pastedCount = 0

    /// The folder of the disk cache, removed with the program's end.
    private let folder = CacheFolder()

    /// The cost limit of the memory cache, in bytes.
    private static let memoryLimit = 256 << 20

    init(_ sources: [GallerySource]) async throws {
        let samples = try SamplePictures()
        let origin = try SampleServer()
        origin.serve(samples.directory, under: "/samples")
        let catalogue = Catalogue(sources, samples: samples, origin: origin)
        guard !catalogue.pictures.isEmpty else {
            let reasons = catalogue.failures.map { "\n\($0.description)" }.joined()
            throw GalleryFailure(
                description: "there is no image in \(Self.names(of: sources)).\(reasons)")
        }
        cache = ImageCache(
            memoryStorage: MemoryStorage.Backend(
                config: MemoryStorage.Config(totalCostLimit: Self.memoryLimit)),
            diskStorage: try DiskStorage.Backend(
                config: DiskStorage.Config(
                    name: "gallery", sizeLimit: 0, fileManager: folder, directory: folder.url)))
        KingfisherManager.shared.cache = cache
        let downloader = ImageDownloader(name: "halcyon-gallery")
        // For pictures from real servers, which another run may load again.
        downloader.resumption = DownloadResumption()
        KingfisherManager.shared.downloader = downloader
        self.samples = samples
        self.origin = origin
        pictures = catalogue.pictures
        isOwn = !sources.isEmpty
        slow = catalogue.slow
        failures = catalogue.failures
        FailureRoutes.add(to: origin, samples: samples)
    }

    /// Cancels all downloads and removes the cache's files. Nothing is stored on disk after that.
    func removeFiles() {
        KingfisherManager.shared.downloader.cancelAll()
        folder.remove()
    }

    /// Adds pictures of the user, which replace the samples.
    ///
    /// - Returns: The first picture that was not there; `nil` without one.
    @discardableResult
    func add(_ sources: [GallerySource]) -> Picture? {
        guard !sources.isEmpty else { return nil }
        let known = isOwn ? pictures : []
        additions += 1
        let catalogue = Catalogue(
            sources, samples: samples, origin: origin, known: known, number: additions)
        failures = (isOwn ? failures : []) + catalogue.failures
        if !catalogue.pictures.isEmpty {
            pictures = known + catalogue.pictures
            isOwn = true
        }
        for tell in onPictures { tell() }
        return catalogue.pictures.first
    }

    /// Adds a picture that was pasted, a PNG file; it is gone when the program ends.
    func add(pasted data: Data) throws -> Picture? {
        pastedCount += 1
        let file = folder.url.appendingPathComponent("Pasted \(pastedCount).png")
        try folder.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try data.write(to: file)
        return FilePath(file).flatMap { add([.file($0)]) }
    }

    /// Returns the picture so many places after `picture`; `nil` beyond the first and the last.
    func picture(_ picture: Picture, movedBy count: Int) -> Picture? {
        guard let index = pictures.firstIndex(of: picture),
            pictures.indices.contains(index + count)
        else { return nil }
        return pictures[index + count]
    }

    /// Returns the picture at `index`, modulo the number of pictures.
    func picture(_ index: Int) -> Picture {
        pictures[index % pictures.count]
    }

    func slowPicture(_ index: Int) -> Picture {
        slow[index % slow.count]
    }

    func sample(_ name: String) -> URL { origin.url("/samples/\(name)") }

    private static func names(of sources: [GallerySource]) -> String {
        sources.map { source in
            switch source {
            case .web(let url): url.absoluteString
            case .file(let path), .folder(let path): path.description
            }
        }.joined(separator: ", ")
    }
}

/// The folder of the disk cache, which is gone for good when the program ends.
///
/// Images may still be stored then. They find no folder, and only this makes one.
final class CacheFolder: FileManager, @unchecked Sendable {
    // Unchecked because the class above is; what is added is constant or locked.

    let url: URL
    private let isRemoved = Mutex(false)

    override init() {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("halcyon-gallery-\(UUID().uuidString)", isDirectory: true)
        super.init()
    }

    deinit {
        remove()
    }

    override func createDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        // Under the lock, so that none is being made while the folder is removed.
        try isRemoved.withLock { isRemoved in
            guard !isRemoved else { throw POSIXError(.ENOENT) }
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: createIntermediates, attributes: attributes)
        }
    }

    /// Removes the folder with everything in it. None is made after that.
    func remove() {
        isRemoved.withLock { isRemoved in
            guard !isRemoved else { return }
            isRemoved = true
            // Under another name nobody finds it, so that nothing comes into it while it is removed.
            let grave = url.deletingLastPathComponent()
                .appendingPathComponent(".\(url.lastPathComponent)", isDirectory: true)
            guard rename(url.path, grave.path) == 0 else { return }
            // What cannot be removed, the system clears some day.
            try? FileManager.default.removeItem(at: grave)
        }
    }
}

struct GalleryFailure: Error, CustomStringConvertible {
    let description: String
}
