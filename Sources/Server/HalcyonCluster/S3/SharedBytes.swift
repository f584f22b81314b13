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

/// Objects by name. If names identify the content, an object never changes but for its generation.
///
/// Each call takes some tenths of a second at most, and throws when the store does not respond.
package protocol SharedBytes: Sendable {
    func object(_ name: String) async throws(EngineError) -> StoredObject

    /// Stores an object; without `replacing`, returns `false` if one of the name exists.
    func store(
        _ object: SharedObject, as name: String, replacing: Bool
    ) async throws(EngineError) -> Bool

    func remove(_ name: String) async throws(EngineError)

    var breakerState: CircuitBreaker.State { get }
}

extension SharedBytes {
    package func store(_ object: SharedObject, as name: String) async throws(EngineError) -> Bool {
        try await store(object, as: name, replacing: false)
    }
}
