package import Foundation
import GRDB

/// Why a store on the disk did not do what it was asked for; each with the error beneath.
package enum StorageError: Error {
    /// There is no folder, and none could be made before.
    case notReady(folder: URL)
    case cannotMakeFolder(path: String, any Error)
    /// The index could not be asked for a file.
    case cannotReadRow(key: String, file: URL, any Error)
    /// A file cannot be read, or holds no such value; for the folder itself, its index cannot be used.
    case cannotRead(URL, any Error)
    case cannotWrite(file: URL, key: String, bytes: Data, any Error)
}

/// Why the index of a cache cannot be used, in the words of those who have a cache, not a database.
package struct IndexFailure: LocalizedError {
    /// Without a capital and a full stop.
    package let reason: String
    /// SQLite's own error, or that of whoever is in the way.
    package let underlying: any Error

    /// `nil` for an error that is not about the index.
    init?(_ error: any Error) {
        switch error {
        case let error as DatabaseError: reason = error.reason
        case IndexUnavailable.locked: reason = "another program keeps it locked"
        case IndexUnavailable.occupied:
            reason = "something else has its name, \(DiskIndex.fileName)"
        case IndexUnavailable.newer: reason = "a newer version of Halcyon has made it"
        default: return nil
        }
        underlying = error
    }

    package var errorDescription: String? { "The index of the cache cannot be used: \(reason)." }
}

extension DatabaseError {
    fileprivate var reason: String {
        switch resultCode {
        case .SQLITE_FULL: "there is no space left on the disk"
        case .SQLITE_BUSY, .SQLITE_LOCKED: "another program keeps it locked"
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH: "it may not be written to"
        case .SQLITE_IOERR: "the disk reports an error"
        case .SQLITE_CANTOPEN: "it cannot be opened"
        case .SQLITE_NOMEM: "there is not enough memory"
        case _ where tellsOfDamage: "it is damaged"
        // SQLite's words, without the statement that failed.
        default: message ?? "SQLite error \(resultCode.rawValue)"
        }
    }
}
