package import Foundation

/// Bytes that nodes share.
package struct SharedObject: Hashable, Sendable {
    package var body: Data
    package var mediaType: String
    /// That of the record which it belongs to; `nil` for one without.
    package var generation: Int64?

    package init(
        body: Data, mediaType: String = "application/octet-stream", generation: Int64? = nil
    ) {
        self.body = body
        self.mediaType = mediaType
        self.generation = generation
    }

    /// Whether it was begun after `mark`.
    package func isNewer(than mark: Int64) -> Bool { mark == 0 || generation ?? 0 > mark }
}

/// What there is under a name.
package enum StoredObject: Hashable, Sendable {
    case missing
    /// Not what was stored: it has to be replaced.
    case damaged
    case whole(SharedObject)

    /// `nil` for what is of no use.
    package var object: SharedObject? {
        if case .whole(let object) = self { object } else { nil }
    }
}

/// Objects by names. Where names say what is in them, an object never changes but for its generation.
///
/// Each call takes a limited time, some tenths of a second, and throws when the store cannot answer.
package protocol SharedBytes: Sendable {
    func object(_ name: String) async throws(EngineError) -> StoredObject

    /// Stores an object; without `replacing`, only if there is none of the name, and `false` when there is.
    func store(
        _ object: SharedObject, as name: String, replacing: Bool
    ) async throws(EngineError) -> Bool

    /// Removes an object, if it is there.
    func remove(_ name: String) async throws(EngineError)

    /// Whether the store is asked at the moment.
    var breakerState: CircuitBreaker.State { get }
}

extension SharedBytes {
    /// Stores an object unless there is one of the name; `false` when there is.
    package func store(
        _ object: SharedObject, as name: String
    ) async throws(EngineError) -> Bool {
        try await store(object, as: name, replacing: false)
    }
}
