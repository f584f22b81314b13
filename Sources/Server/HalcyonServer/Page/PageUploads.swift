import Foundation
import HalcyonPixels
import HalcyonServerURLs
import HalcyonStorage
import HalcyonWork

private struct Upload: CacheCostCalculable {
    let data: Data

    var cacheCost: Int { data.count }
}

/// Pictures that were dropped on the page, in memory for ten minutes. Only the page's own routes
/// know them: as `upload:ID`.
final class PageUploads: Sendable {
    static let scheme = "upload:"
    private let uploads: MemoryStorage.Backend<Upload>
    /// Limits the number of concurrent uploads, since each is in memory as a whole.
    let gate: Gate

    init(_ time: TimeSource) {
        gate = Gate("uploads", Admission(width: 4, queue: 8), time: time)
        var config = MemoryStorage.Config(totalCostLimit: 64 << 20)
        config.expiration = .seconds(600)
        uploads = MemoryStorage.Backend(config: config, now: time.expirationDate)
    }

    /// Stores a picture, and returns its name as a source.
    /// - Throws: `source_format` when the format is unknown.
    func keep(_ data: Data) throws(Failure) -> String {
        guard ImageSniffer.format(of: data) != .unknown else {
            throw Failure(.sourceFormat, "The file is no picture")
        }
        let id = String.randomHexadecimal()
        uploads.store(value: Upload(data: data), forKey: id)
        return Self.scheme + id
    }

    func find(_ source: String) throws(Failure) -> FoundSource {
        let id = String(source.dropFirst(Self.scheme.count))
        guard source.hasPrefix(Self.scheme),
            let upload = uploads.value(forKey: id, extendingExpiration: .none)
        else { throw Failure(.sourceNotFound, "There is no such upload, or no longer") }
        return FoundSource(upload.data, id: id)
    }
}
