import Foundation

/// What the index knows of a file.
struct IndexRow: Sendable, Equatable {
    /// The file's name.
    var name: String
    /// The key it was stored for; `nil` for a file found when the index was rebuilt.
    var key: String?
    /// Bytes.
    var size: Int
    /// XXH3-64 of the bytes; `nil` until a file found by a rebuild is first read.
    var checksum: Int64?
    /// When the file expires; seconds since 1970.
    var expires: Double
    /// When the file was last used; seconds since 1970.
    var accessed: Double
    /// The image format; `nil` when it is not known.
    var format: String?

    /// "Never" is any time from here on, so that it survives arithmetic and rounding.
    static let never = Date.distantFuture.timeIntervalSince1970

    /// The expiration after an access at `now`; `nil` when the access is not to be noted.
    func expiration(
        extending: ExpirationExtending, now: Date
    ) -> Double? {
        switch extending {
        case .none: nil
        case .cacheTime:
            expires >= Self.never ? expires : now.timeIntervalSince1970 + (expires - accessed)
        case .expirationTime(let expiration):
            expiration.estimatedExpirationSince(now).timeIntervalSince1970
        }
    }
}
