public import Foundation
import HalcyonWork
import Synchronization

/// How a downloader keeps the beginning of downloads that break off, to go on there the next time, also
/// in another run of the program.
///
/// A download goes on only on the server's word that the bytes are still the same: it must have sent a
/// strong validator (an `ETag`, or a `Last-Modified` that is old enough), and must answer the request for
/// the rest with exactly that. In all other cases the download starts over. It is turned on by
/// `downloader.resumption = DownloadResumption()`.
public struct DownloadResumption: Sendable, Hashable {
    /// The folder of the partial files; `nil` for `halcyon/partials` among the user's caches. It is
    /// made, for its owner alone, when it is needed, and should hold nothing else.
    public var directory: URL?
    /// The most bytes that all partial files may have together; those written longest ago go. 256 MiB
    /// by default.
    public var sizeLimit: UInt
    /// How long a partial file is kept after it was last written; a day by default.
    public var expiration: StorageExpiration
    /// What is shorter, in bytes, is sooner loaded again; 64 KiB by default.
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
    /// Removes all partial files but those that are being written; see ``DownloadResumption``.
    public func removePartials() async {
        await currentSettings.partials?.removeAll()
    }

    /// Bytes of all partial files, 0 without ``resumption``.
    public var partialsSize: Int {
        get async { await currentSettings.partials?.size ?? 0 }
    }

    /// Waits until what downloads have left so far is written.
    package func finishWritingPartials() async {
        await currentSettings.partials?.finishWriting()
    }
}

/// The beginning of a download that broke off.
struct KeptPartial: Sendable {
    /// What has to be known of it to go on.
    struct Description: Codable, Sendable {
        /// The fields of the answer that it began with.
        var fields: HTTPFields
        /// When that answer came.
        var received: Date
        /// The length of the whole, if it is known.
        var total: Int64?
    }

    var description: Description
    var bytes: Data
}

extension KeptPartial.Description {
    /// As it is kept beside the file.
    var text: String {
        // Text, dates and numbers always have a form.
        (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// `nil` for what is no description.
    init?(_ text: String) {
        guard let value = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else {
            return nil
        }
        self = value
    }
}

/// What a downloader keeps of downloads that broke off: in files, and the latest in memory, so that a
/// retry reads nothing.
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

    /// Takes out what is in memory for a key.
    func takeRecent(_ key: String) -> KeptPartial? {
        recent.withLock { $0.take(key) }
    }

    /// Keeps something in memory for a while.
    func keepRecent(_ partial: KeptPartial, forKey key: String) {
        let number = recent.withLock { $0.add(partial, key) }
        let end = DispatchTime.now() + RecentPartials.lifetime
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: end) { [weak self] in
            // Released after the lock: it may be long.
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

/// The partials that are in memory for retries.
private struct RecentPartials: Sendable {
    /// Seconds; whoever tries again later reads the file.
    static let lifetime = 60.0
    /// Bytes of all together.
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
