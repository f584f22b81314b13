package import Foundation

/// Responses of servers, and which files were made of them. What a response says is the caller's business.
///
/// Other processes change the same rows at any time, so none is remembered here. When the index cannot be
/// used now, because others lock it, nothing is known and nothing changes. All members block.
///
/// All throw `StorageError.cannotRead` when the index cannot be read or written.
extension FileStore {
    /// What is known of a file's origin; `nil` when there is no such file, or it has expired.
    package func origin(of name: String) throws -> FileOrigin? {
        guard directory.known({ $0.isReady }) else { return nil }
        return try indexed { try directory.origin(of: name) }
    }

    /// The responses of a key, in all variants.
    package func responses(forKey key: String) throws -> [ResponseRow] {
        try indexed { try directory.responses(forKey: key) }
    }

    /// Calls `body` with the responses that match, those used last first, each with the names of the files that
    /// were made of its present generation. Few of them are in memory at a time.
    package func forEachResponse(
        where matches: (_ key: String, _ url: String) -> Bool = { _, _ in true },
        _ body: (_ row: ResponseRow, _ files: [String]) throws -> Void
    ) throws {
        try indexed { try directory.forEachResponse(where: matches, body) }
    }

    /// The files that were made of a generation of a response: their names, the keys that they were stored for
    /// as far as these are known, what has processed them, and whether they hold the response's body.
    package func files(
        ofResponse key: String, variant: Data, generation: Int64
    ) throws -> [(name: String, key: String?, processor: String?, isOriginal: Bool)] {
        try indexed {
            try directory.files(
                ofResponse: .init(key: key, variant: variant), generation: generation)
        }
    }

    /// All responses, those used last first, each with the names of the files that were made of its
    /// present generation.
    package func allResponses() throws -> [(row: ResponseRow, files: [String])] {
        var responses: [(row: ResponseRow, files: [String])] = []
        try forEachResponse { responses.append(($0, $1)) }
        return responses
    }

    /// Stores a response without a file, such as a redirect; what was made of a former generation is
    /// removed. A response with content is kept only with files of its generation.
    /// - Throws: Also `StorageError.cannotMakeFolder`.
    package func put(_ put: ResponsePut) throws {
        if !directory.known({ $0.isReady }) { try makeFolder() }
        try indexed { try directory.put(put) }
    }

    /// Stores a new response together with a file.
    ///
    /// - Parameters:
    ///   - bytes: The response's body if `isOriginal`, else what was made of it.
    ///   - name: The file's name; `nil` for the usual one of the key.
    ///   - expiration: How long the file is kept; `nil` for the config's time.
    /// - Throws: What storing a file throws.
    package func store(
        _ put: ResponsePut, with bytes: Data, isOriginal: Bool = true, named name: String? = nil,
        forKey key: String, expiration: StorageExpiration? = nil
    ) throws {
        let file = try newFile(
            name ?? fileName(forKey: key), forKey: key, expiration: expiration, overwriting: true,
            derivation: .response(
                key: put.row.key, variant: put.row.variant, generation: put.row.generation,
                isOriginal: isOriginal),
            response: put
        ) { bytes }
        if let file { try store(file) }
    }

    /// Replaces the row of a response that the server has confirmed, and whose variant was `oldVariant`.
    /// Its files stay.
    /// - Returns: `false`, with nothing done, when there is no such row or another generation by now.
    package func freshen(_ row: ResponseRow, from oldVariant: Data) throws -> Bool {
        try indexed { try directory.freshen(row, from: oldVariant) }
    }

    /// Removes a response with all files that were made of it.
    package func removeResponse(key: String, variant: Data) throws {
        try indexed { try directory.removeResponse(.init(key: key, variant: variant)) }
    }

    /// Removes the files that were made of responses that match, as far as they are meant. A response with
    /// content goes with the last of its files.
    ///
    /// - Parameters:
    ///   - matches: Asked of each response there is.
    ///   - isMeant: Asked with the key that a file was stored for, empty for one of which it is not known.
    /// - Returns: How many responses had files that were removed, and how many files these were.
    package func removeFiles(
        ofResponsesWhere matches: (_ key: String, _ url: String) -> Bool,
        where isMeant: (_ fileKey: String) -> Bool = { _ in true }
    ) throws -> (responses: Int, files: Int) {
        try indexed { try directory.removeFiles(ofResponsesWhere: matches, where: isMeant) }
    }

    /// Has the responses that match validated before they are used again. Their files stay.
    /// - Returns: How many match.
    package func invalidateResponses(
        where matches: (_ key: String, _ url: String) -> Bool
    ) throws -> Int {
        try indexed { try directory.invalidateResponses(where: matches) }
    }

    /// Notes that a response is used now: in memory, to be written some seconds later.
    package func noteUse(ofResponse key: String, variant: Data) {
        directory.noteUse(of: .init(key: key, variant: variant))
    }
}
