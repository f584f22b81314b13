package import Foundation

package struct SharedObject: Hashable, Sendable {
    package var body: Data
    package var mediaType: String
    /// The generation of the record that it belongs to; `nil` without a record.
    package var generation: Int64?

    package init(
        body: Data, mediaType: String = "application/octet-stream", generation: Int64? = nil
    ) {
        self.body = body
        self.mediaType = mediaType
        self.generation = generation
    }

    package func isNewer(than mark: Int64) -> Bool { mark == 0 || generation ?? 0 > mark }
}

package enum StoredObject: Hashable, Sendable {
    case missing
    /// The object is not as stored: it has to be replaced.
    case damaged
    case whole(SharedObject)

    package var object: SharedObject? { if case .whole(let object) = self { object } else { nil } }
}
