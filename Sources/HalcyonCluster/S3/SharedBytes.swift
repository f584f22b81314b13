package import Foundation

/// Bytes that nodes share, with what is known of them.
package struct SharedObject: Hashable, Sendable {
    package var body: Data
    package var mediaType: String
    /// More that is known; small, and any bytes.
    package var head: Data

    package init(body: Data, mediaType: String = "application/octet-stream", head: Data = Data()) {
        self.body = body
        self.mediaType = mediaType
        self.head = head
    }
}

/// Objects by names that say what is in them, so that an object never changes.
///
/// Each call takes a limited time, some tenths of a second, and throws when the store cannot answer.
package protocol SharedBytes: Sendable {
    /// `nil` when there is no such object, or when it is damaged.
    func object(_ name: String) async throws(EngineError) -> SharedObject?

    /// Stores an object unless there is one of the name; `false` when there is.
    func store(_ object: SharedObject, as name: String) async throws(EngineError) -> Bool

    /// Whether the store is asked at the moment.
    var breakerState: CircuitBreaker.State { get }
}
