import Foundation
import HalcyonWork
import Synchronization

/// The files written of one material, so that a thousand callers write one once.
///
/// Callers that differ in what the file is to hold, or for how long, each have it written, and the
/// file ends as the latest of them asked: whichever is ready first, an earlier request never
/// overwrites what a later one wrote.
final class ImageFiles: Sendable {
    /// Where a file is.
    struct Place: Hashable, Sendable {
        let cache: ObjectIdentifier
        let key: ImageKey
    }

    /// What it is to hold, and how it is to be kept.
    struct Wish: Hashable, Sendable {
        /// `nil` for the bytes as they were loaded.
        var creating: ImageCreatingOptions?
        /// Writes by serializers that cannot be compared are never the same.
        var serializer: SerializerIdentity?
        /// Whether an original keeps the position in its metadata.
        var keepsPosition = true
        let expiration: StorageExpiration?
        let writeOptions: UInt
    }

    typealias Writing = OneShot<CacheStoreResult>

    private struct File {
        let wish: Wish
        /// The number of the latest request that asked for this.
        var request: UInt64
        let writing: Writing
    }

    private let files = Mutex<[Place: File]>([:])

    /// The writing that fulfils what `request` asks for, begun by `begin` where there is none. `begin`
    /// must only begin it: it runs under the lock, so that writes begin in the order decided on.
    func write(
        _ wish: Wish, at place: Place, for request: UInt64, begin: () -> Writing
    ) -> Writing {
        files.withLock { files in
            if let file = files[place] {
                let isSame = file.wish == wish && (wish.creating == nil || wish.serializer != nil)
                if isSame { files[place]?.request = max(file.request, request) }
                if isSame || file.request > request { return file.writing }
            }
            let writing = begin()
            files[place] = File(wish: wish, request: request, writing: writing)
            return writing
        }
    }
}

/// Tells whether two serializers do the same.
struct SerializerIdentity: Hashable, Sendable {
    private let type: ObjectIdentifier
    private let value: Value

    private enum Value: Hashable, @unchecked Sendable {
        // Unchecked because `AnyHashable` is not `Sendable`; what is in it is a serializer, which is.
        case object(ObjectIdentifier)
        case value(AnyHashable)
        /// There is nothing in it that could differ.
        case stateless
    }

    /// `nil` when nobody can tell: a structure with state that is not `Hashable`.
    init?(_ serializer: any CacheSerializer) {
        let type = Swift.type(of: serializer)
        self.type = ObjectIdentifier(type)
        if type is AnyClass {
            value = .object(ObjectIdentifier(serializer as AnyObject))
        } else if let hashable = serializer as? any Hashable {
            value = .value(AnyHashable(hashable))
        } else if Self.size(of: serializer) == 0 {
            value = .stateless
        } else {
            return nil
        }
    }

    private static func size<S>(of serializer: S) -> Int { MemoryLayout<S>.size }
}
