public import Foundation
import Synchronization

/// The settings for keeping interrupted downloads and resuming them, also in another run of the
/// program.
///
/// A download is resumed only if the server confirms that the bytes are unchanged: it must have
/// sent a strong validator (an `ETag`, or a `Last-Modified` that is old enough), and must answer
/// the range request with exactly the rest. In all other cases the download starts over. Enabled by
/// `downloader.resumption = DownloadResumption()`.
public struct DownloadResumption: Sendable, Hashable {
    /// The folder of the partial files; `nil` for `halcyon/partials` in the user's cache folder. It
    /// is created on demand, for its owner alone, and should hold nothing else.
    public var directory: URL?
    /// The maximum size of all partial files together, in bytes; the least recently written are
    /// removed first. 256 MiB by default.
    public var sizeLimit: UInt
    /// The lifetime of a partial file after its last write; a day by default.
    public var expiration: StorageExpiration
    /// The minimum size of a partial, in bytes; shorter ones are faster to load again. 64 KiB by
    /// default.
    public var minimumSize: Int

    public init(
        directory: URL? = nil, sizeLimit: UInt = 256 << 20,
        expiration: StorageExpiration = .days(1), minimumSize: Int = 64 << 10
    ) {
        self.directory = directory
        self.sizeLimit = sizeLimit
        self.expiration = expiration
        self.minimumSize = minimumSize
    }
}

extension ImageDownloader {
    /// Removes all partial files except those being written; see ``DownloadResumption``.
    public func removePartials() async {
        await currentSettings.partials?.removeAll()
    }

    /// The size of all partial files, in bytes; 0 without ``resumption``.
    public var partialsSize: Int {
        get async { await currentSettings.partials?.size ?? 0 }
    }

    /// Waits until the partial files of downloads so far are written.
    package func finishWritingPartials() async {
        await currentSettings.partials?.finishWriting()
    }
}

/// The beginning of an interrupted download.
struct KeptPartial: Sendable {
    struct Description: Codable, Sendable {
        var fields: HTTPFields
        var received: Date
        /// The length of the complete body, if known.
        var total: Int64?
    }

    var description: Description
    var bytes: Data
}

extension KeptPartial.Description {
    /// The form stored beside the file.
    var text: String {
        // Text, dates and numbers can always be encoded.
        (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    init?(_ text: String) {
        guard let value = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else {
            return nil
        }
        self = value
    }
}

/// The partials of a downloader: in files, and the latest also in memory, so that a retry needs no
/// reading.
final class PartialDownloads: Sendable {
    let resumption: DownloadResumption
    private let files: PartialFiles
    private let recent = Mutex(RecentPartials())

    init(_ resumption: DownloadResumption) {
        self.resumption = resumption
        files = PartialFiles(
            folder: resumption.directory, sizeLimit: Int(clamping: resumption.sizeLimit),
            expiration: resumption.expiration,
            onFailure: { error in
                HalcyonLog.warn(
                    "Downloads that break off are not kept: \(error.readableDescription)")
            })
    }

    func file(forKey key: String) -> PartialFile { files.file(forKey: key) }

    func takeRecent(_ key: String) -> KeptPartial? {
        recent.withLock { $0.take(key) }
    }

    /// Keeps a partial in memory for `RecentPartials.lifetime`.
    func keepRecent(_ partial: KeptPartial, forKey key: String) {
        let number = recent.withLock { $0.add(partial, key) }
        let end = DispatchTime.now() + RecentPartials.lifetime
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: end) { [weak self] in
            // Released after the lock: the bytes may be many.
            _ = self?.recent.withLock { $0.take(key, ifNumbered: number) }
        }
    }

    var size: Int { get async { await files.size } }

    func finishWriting() async { await files.finishWriting() }

    func removeAll() async {
        recent.withLock { $0 = RecentPartials() }
        await files.removeAll()
    }
}

/// The partials in memory, for retries.
private struct RecentPartials: Sendable {
    /// In seconds; later retries read the file.
    static let lifetime = 60.0
    /// The maximum size of all together, in bytes.
    private static let sizeLimit = 32 << 20

    private var entries: [String: (number: Int, partial: KeptPartial)] = [:]
    private var last = 0

    mutating func add(_ partial: KeptPartial, _ key: String) -> Int {
        last += 1
        entries[key] = (last, partial)
        while entries.values.reduce(0, { $0 + $1.partial.bytes.count }) > Self.sizeLimit,
            let oldest = entries.min(by: { $0.value.number < $1.value.number })
        {
            entries[oldest.key] = nil
        }
        return last
    }

    mutating func take(_ key: String, ifNumbered number: Int? = nil) -> KeptPartial? {
        guard let entry = entries[key], entry.number == number ?? entry.number else { return nil }
        return entries.removeValue(forKey: key)?.partial
    }
}
