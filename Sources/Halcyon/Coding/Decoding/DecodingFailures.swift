import CXXHash
import Foundation
import Synchronization

/// Why the latest files could not be decoded, for whoever is told only that they could not.
///
/// `ImageProcessor` returns no reason. To find it out by decoding again would cost as much as the first time,
/// under limits that may be others.
final class DecodingFailures: Sendable {
    static let shared = DecodingFailures()

    /// A file, without keeping it.
    private struct Key: Hashable {
        let count: Int
        let checksum: UInt64

        init(_ data: Data) {
            count = data.count
            checksum = data.withUnsafeBytes { XXH3_64bits($0.baseAddress, $0.count) }
        }
    }

    private struct Entry {
        let key: Key
        let error: any Error
    }

    private static let limit = 32
    private let entries = Mutex<[Entry]>([])

    /// Remembers why `data` could not be decoded; the latest reason counts.
    func note(_ error: any Error, of data: Data) {
        let key = Key(data)
        entries.withLock { entries in
            entries.removeAll { $0.key == key }
            if entries.count == Self.limit { entries.removeFirst() }
            entries.append(Entry(key: key, error: error))
        }
    }

    /// Forgets why `data` could not be decoded: it could in the meantime.
    func forget(_ data: Data) {
        guard entries.withLock({ $0.contains { $0.key.count == data.count } }) else { return }
        let key = Key(data)
        entries.withLock { $0.removeAll { $0.key == key } }
    }

    /// Why `data` could not be decoded lately; `nil` when that is not known.
    func reason(for data: Data) -> (any Error)? {
        let key = Key(data)
        return entries.withLock { entries in entries.last { $0.key == key }?.error }
    }
}

extension EncodedImage {
    /// The image in `data`; why there is none is noted.
    static func noting(_ data: Data, limits: DecodingLimits) throws -> EncodedImage {
        do {
            return try EncodedImage(data, limits: limits)
        } catch {
            DecodingFailures.shared.note(error, of: data)
            throw error
        }
    }
}
