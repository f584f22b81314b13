import Foundation
import Glibc
import HalcyonTestKit
import HalcyonWork
import Synchronization
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels
@testable import HalcyonStorage

/// A cache in a folder of its own and by a clock that moves when told, with what it is to store.
struct CacheFixture: Sendable {
    /// The two forms of a function: one that is awaited, and one that calls back.
    enum Form: CaseIterable, Sendable { case awaited, calledBack }

    let folder: TemporaryDirectory
    let clock = TestClock()
    let cache: ImageCache
    let serializer = PixelSerializer()
    let image = testImage()

    init() throws {
        folder = try TemporaryDirectory()
        cache = try ImageCache(name: "test", folder: folder.url, now: { [clock] in clock.now })
    }

    func options(_ items: KingfisherOptionsInfo = []) -> KingfisherParsedOptionsInfo {
        KingfisherParsedOptionsInfo(
            [.cacheSerializer(serializer), .callbackQueue(.untouch)] + items)
    }

    func store(
        _ key: String, _ items: KingfisherOptionsInfo = [], toDisk: Bool = true,
        by form: Form = .awaited, in other: ImageCache? = nil
    ) async throws {
        let cache = other ?? cache
        guard form == .calledBack else {
            return try await cache.store(
                image, forKey: key, options: options(items), toDisk: toDisk)
        }
        let result: CacheStoreResult = await handedOver { hand in
            cache.store(image, forKey: key, options: options(items), toDisk: toDisk) { hand($0) }
        }
        result.memoryCacheResult.get()
        try result.diskCacheResult.get()
    }

    func storeOnDisk(_ key: String) async throws {
        try await store(key)
        cache.clearMemoryCache()
    }

    func retrieve(
        _ key: String, _ items: KingfisherOptionsInfo = [], by form: Form = .awaited
    ) async throws -> ImageCacheResult {
        guard form == .calledBack else {
            return try await cache.retrieveImage(forKey: key, options: options(items))
        }
        let result: Result<ImageCacheResult, KingfisherError> = await handedOver { hand in
            cache.retrieveImage(forKey: key, options: options(items), callbackQueue: .untouch) {
                hand($0)
            }
        }
        return try result.get()
    }
}

extension ImageCache {
    /// Runs `body` with the names that this cache tells of as cleaned from its disk meanwhile.
    func recordingCleanings(_ body: (Recorder<[String]>) async throws -> Void) async rethrows {
        let cleanings = Recorder<[String]>()
        let observer = NotificationCenter.default.addObserver(
            forName: .KingfisherDidCleanDiskCache, object: self, queue: nil
        ) { note in
            #expect(MainQueue.isCurrent)
            cleanings.record(note.userInfo?[KingfisherDiskCacheCleanedHashKey] as? [String] ?? [])
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try await body(cleanings)
    }
}

extension DiskLane {
    /// Waits until all that was submitted for writing before is done; for tests that hold threads.
    static func finishWriting() async {
        // Each of the two threads has one of these until the other one has the other.
        let (first, second) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let one: Void = writing.run {
            first.signal()
            second.wait()
        }
        async let other: Void = writing.run {
            second.signal()
            first.wait()
        }
        _ = await (one, other)
    }
}

extension TemporaryDirectory {
    /// A storage of notes in this folder, as a process that begins to use it has it.
    func notes() throws -> DiskStorage.Backend<Note> {
        try DiskStorage.Backend(
            config: DiskStorage.Config(name: "test", sizeLimit: 0, directory: url))
    }

    /// A cache whose folder cannot be made.
    func unwritableCache() throws -> ImageCache {
        let file = try write(Data("a file".utf8), to: "not a folder")
        let disk = DiskStorage.Backend<Data>(
            noThrowConfig: .init(name: "x", sizeLimit: 0, directory: file))
        return ImageCache(
            memoryStorage: .init(config: .init(totalCostLimit: 1_000_000)), diskStorage: disk)
    }
}

extension DiskStorage.Backend {
    func names(hidden: Bool = true) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directoryURL.path)
            .filter { hidden || !$0.hasPrefix(".") }
    }

    /// Removes the index, as somebody may who looks for room.
    func loseIndex() {
        // Not all of its files are there.
        for name in DiskIndex.fileNames { unlink(directoryURL.appendingPathComponent(name).path) }
    }
}

extension URL {
    /// Bytes of all files that can be seen in this folder.
    func visibleSize() throws -> Int {
        try FileManager.default.contentsOfDirectory(
            at: self, includingPropertiesForKeys: [.fileSizeKey], options: .skipsHiddenFiles
        ).reduce(0) { try $0 + ($1.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0) }
    }
}

/// The error of a conversion that was asked to fail.
struct Refusal: Error {}

struct Weight: CacheCostCalculable, Equatable {
    let id: Int
    var cacheCost = 1
}

/// Text as a file, whose conversions can be made to fail.
struct Note: DataTransformable, Equatable {
    let text: String

    init(_ text: String) { self.text = text }

    func toData() throws -> Data {
        if text == "inconvertible" { throw Refusal() }
        return Data(text.utf8)
    }

    static func fromData(_ data: Data) throws -> Note {
        let text = String(decoding: data, as: UTF8.self)
        if text == "unreadable" { throw Refusal() }
        return Note(text)
    }

    static let empty = Note("")
}

/// Writes an image's pixels as they are, behind a header of width, height and channels; counts.
final class PixelSerializer: CacheSerializer {
    private let counts = Mutex((encoded: 0, decoded: 0))
    /// Called when an image has been decoded.
    let afterDecoding: @Sendable () -> Void

    init(afterDecoding: @escaping @Sendable () -> Void = {}) { self.afterDecoding = afterDecoding }

    var encoded: Int { counts.withLock { $0.encoded } }
    var decoded: Int { counts.withLock { $0.decoded } }

    func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
        counts.withLock { $0.encoded += 1 }
        guard let bitmap = try? image.bitmap(), bitmap.size.width < 256, bitmap.size.height < 256
        else { return nil }
        return Data([UInt8(bitmap.size.width), UInt8(bitmap.size.height), UInt8(bitmap.channels)])
            + bitmap.data
    }

    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        counts.withLock { $0.decoded += 1 }
        defer { afterDecoding() }
        guard data.count > 3 else { return nil }
        return Bitmap(
            pixels: data.dropFirst(3), size: PixelSize(width: Int(data[0]), height: Int(data[1])),
            channels: Int(data[2])
        ).map { Image(bitmap: $0) }
    }
}

extension ImageOperation {
    /// A step that cannot be done.
    static let failing = ImageOperation { _, _ in
        throw ImageCodingError.processing(reason: "asked to fail")
    }

    static let identity = ImageOperation { image, _ in image }
}

/// A processor of which only the name matters.
struct NamedProcessor: ImageProcessor {
    let identifier: String

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    { nil }
}

extension KingfisherError {
    /// The code of an error that must be one of this type.
    static func code(of body: () throws -> Void) -> Int? {
        error(of: body).map { ($0 as? KingfisherError)?.errorCode ?? -1 }
    }

    /// What an error that must be of this type says to people.
    static func words(of body: () throws -> Void) -> String? {
        error(of: body).map { ($0 as? KingfisherError)?.errorDescription ?? "\($0)" }
    }

    private static func error(of body: () throws -> Void) -> (any Error)? {
        do {
            try body()
            return nil
        } catch {
            return error
        }
    }
}

extension KingfisherWrapper where Base == String {
    /// The name of a key's file.
    var sha256: String { Digest.sha256.hexadecimal(base) }
}

/// What a disk storage keeps its values in, for texts.
///
/// While others keep the index locked it waits, however long that takes. A storage goes on without the
/// index after some tenths of a second, which is no long time while other tests run.
struct PatientStore: Sendable {
    private let files: CacheDirectory

    /// Makes the store and its folder.
    init(_ config: DiskStorage.Config) throws {
        files = CacheDirectory(config: config, now: { Date() }, lockPatience: .seconds(600))
        try files.makeFolder()
    }

    var directoryURL: URL { files.url }

    func store(_ text: String, forKey key: String) throws {
        let file = try files.newFile(
            files.fileName(forKey: key), forKey: key, expiration: nil, overwriting: true
        ) { Data(text.utf8) }
        if let file { try files.store(file) }
    }

    func text(forKey key: String) throws -> String? {
        try files.value(of: files.fileName(forKey: key), forKey: key, extending: .cacheTime) {
            String(decoding: $0, as: UTF8.self)
        }
    }

    func isCached(forKey key: String) -> Bool { files.contains(files.fileName(forKey: key)) }

    func remove(forKey key: String) throws { try files.remove(files.fileName(forKey: key)) }

    func totalSize() throws -> UInt { try files.totalSize() }
}
