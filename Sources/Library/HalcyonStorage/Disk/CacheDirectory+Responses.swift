package import Foundation

/// Server responses and the files derived from them. The caller interprets the responses.
///
/// Other processes change the same rows at any time, so none is cached here. While the index is
/// unavailable, because others lock it, reads find nothing and changes do nothing. All members
/// block.
///
/// All throw `StorageError.cannotRead` when the index cannot be read or written.
extension CacheDirectory {
    /// Returns the origin of a file; `nil` when the file is missing or has expired.
    package func origin(of name: String) throws -> FileOrigin? {
        guard known({ $0.isReady }) else { return nil }
        if let origin = try mirroredOrigin(of: name) { return origin }
        // The index describes the former file.
        if known({ $0.log.rows[name] }) != nil {
            return FileOrigin(derivation: nil, response: nil)
        }
        let found = try readingResponses { try $0.origin(of: name) } ?? nil
        guard let (origin, checksum, written) = found else { return nil }
        // An access that is not written yet may have extended it.
        let expires = known { $0.log.accesses[name]?.expires } ?? written
        guard expires > now().timeIntervalSince1970 else { return nil }
        known { $0.mirror.note(origin.derivation, of: name, checksum: checksum) }
        return origin
    }

    /// The origin of a file that is unchanged since this process stored it, or last asked for its
    /// origin. The response may have changed, and is read.
    private func mirroredOrigin(of name: String) throws -> FileOrigin? {
        guard let mirrored = known({ $0.mirror.entry(name) }), let made = mirrored.derivation,
            mirrored.row.expires > now().timeIntervalSince1970,
            let folder = try indexed({ try openFolder(validated: true) }),
            folder.metadata(name)?.stamp == mirrored.stamp
        else { return nil }
        guard case .response(let key, let variant, _, _) = made else {
            return FileOrigin(derivation: made, response: nil)
        }
        let id = IndexLog.ResponseID(key: key, variant: variant)
        let response: ResponseRow? = try readingResponses { try $0.response(id) } ?? nil
        // A missing response may have another variant by now.
        return response.map { FileOrigin(derivation: made, response: $0) }
    }

    package func responses(forKey key: String) throws -> [ResponseRow] {
        try readingResponses { try $0.responses(forKey: key) } ?? []
    }

    /// The files derived from a generation of a response: their names, keys and processors where
    /// known, and whether they hold the response's body.
    package func files(
        ofResponse key: String, variant: Data, generation: Int64
    ) throws -> [(name: String, key: String?, processor: String?, isOriginal: Bool)] {
        let id = IndexLog.ResponseID(key: key, variant: variant)
        return try readingResponses { try $0.files(ofResponse: id, generation: generation) } ?? []
    }

    /// Calls `body` with the matching responses, the last used first, each with the names of the
    /// files derived from its current generation, without a lock. Few of them are in memory at a
    /// time.
    package func forEachResponse(
        where matches: (_ key: String, _ url: String) -> Bool = { _, _ in true },
        _ body: (_ row: ResponseRow, _ files: [String]) throws -> Void
    ) throws {
        flushAccesses()
        var numbers = try readingResponses { try $0.responseNumbers(where: matches) }?[...] ?? []
        while !numbers.isEmpty {
            let next = numbers.prefix(Self.responsesAtATime)
            numbers = numbers.dropFirst(next.count)
            let found = try readingResponses { try next.compactMap($0.response) } ?? []
            for (row, files) in found { try body(row, files) }
        }
    }

    /// All responses, the last used first, each with the names of the files derived from its
    /// current generation.
    package func allResponses() throws -> [(row: ResponseRow, files: [String])] {
        var responses: [(row: ResponseRow, files: [String])] = []
        try forEachResponse { responses.append(($0, $1)) }
        return responses
    }

    /// The rows read at a time; each may have a mebibyte of header fields.
    private static let responsesAtATime = 8

    /// Stores a response without a file, such as a redirect, and removes the files of a former
    /// generation. A response with content is kept only with files of its generation.
    /// - Throws: Also `StorageError.cannotMakeFolder`.
    package func put(_ put: ResponsePut) throws {
        if !known({ $0.isReady }) { try makeFolder() }
        try changingResponses { transaction in
            let id = put.row.id
            let stored = try transaction.responseHead(id)
            if let stored, stored.generation != put.row.generation,
                stored.hasOvertaken(put.row.received, now: now())
            {
                return
            }
            guard let response = try enter(put, in: transaction) else { return }
            try removeOutdated(by: put, response, in: transaction)
            try transaction.forgetOutdated(response)
        }
    }

    /// Stores a new response together with a file.
    ///
    /// - Parameters:
    ///   - bytes: The response's body if `isOriginal`, else a file derived from it.
    ///   - name: The file's name; `nil` for the usual one of the key.
    ///   - expiration: The file's lifetime; `nil` for the config's.
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

    /// Replaces the row of a response that the server has confirmed; `oldVariant` was its variant.
    /// Its files stay.
    /// - Returns: `false`, with nothing done, when the row is missing or has another generation by
    ///   now.
    package func freshen(_ row: ResponseRow, from oldVariant: Data) throws -> Bool {
        guard row.isSound else { return false }
        return try changingResponses { transaction in
            let old = IndexLog.ResponseID(key: row.key, variant: oldVariant)
            guard let stored = try transaction.responseHead(old),
                stored.generation == row.generation
            else { return false }
            // Another caller has validated it since.
            if stored.hasOvertaken(row.received, now: now()) { return true }
            if row.variant != oldVariant, let other = try transaction.responseHead(row.id) {
                try remove(other.id, in: transaction)
            }
            try transaction.update(stored.id, to: row)
            return true
        } ?? false
    }

    package func removeResponse(key: String, variant: Data) throws {
        try changingResponses { transaction in
            guard let stored = try transaction.responseHead(.init(key: key, variant: variant))
            else { return }
            try remove(stored.id, in: transaction)
        }
    }

    /// Removes the files derived from matching responses whose keys, empty if unknown, `isMeant` selects. A
    /// response with content is removed with the last of its files; returns the numbers of responses with
    /// removed files, and of these files.
    package func removeFiles(
        ofResponsesWhere matches: (_ key: String, _ url: String) -> Bool,
        where isMeant: (_ fileKey: String) -> Bool = { _ in true }
    ) throws -> (responses: Int, files: Int) {
        let matching = try responses(where: matches)
        guard !matching.isEmpty else { return (0, 0) }
        return try changingResponses { transaction in
            var count = (responses: 0, files: 0)
            for id in matching {
                guard let response = try transaction.responseHead(id)?.id else { continue }
                let files = try transaction.files(madeOf: response).filter { name in
                    isMeant(try transaction.row(named: name)?.key ?? "")
                }
                try discard(files, in: transaction)
                count.files += files.count
                if !files.isEmpty { count.responses += 1 }
            }
            return count
        } ?? (0, 0)
    }

    /// Marks the matching responses for validation before their next use, and counts them.
    package func invalidateResponses(
        where matches: (_ key: String, _ url: String) -> Bool
    ) throws -> Int {
        let matching = try responses(where: matches)
        guard !matching.isEmpty else { return 0 }
        return try changingResponses { transaction in
            try transaction.invalidate(matching)
        } ?? 0
    }

    private func responses(
        where matches: (_ key: String, _ url: String) -> Bool
    ) throws -> [IndexLog.ResponseID] {
        let names = try readingResponses { try $0.responseNames() } ?? []
        return names.filter { matches($0.id.key, $0.url) }.map(\.id)
    }

    /// Notes the use of a response: in memory, written some seconds later.
    package func noteUse(ofResponse key: String, variant: Data) {
        let date = now().timeIntervalSince1970
        let response = IndexLog.ResponseID(key: key, variant: variant)
        flush(known { ($0.log.note(date, of: response), $0.log.isFull) })
    }

    // MARK: As part of a store

    /// Whether a file is to be stored. A file derived from a response that has been replaced by one
    /// with other content meanwhile is not.
    func admits(_ file: NewFile, in transaction: IndexTransaction) throws -> Bool {
        guard transaction.hasResponses,
            case .response(let key, let variant, let generation, _) = file.derivation,
            let stored = try transaction.responseHead(.init(key: key, variant: variant)),
            stored.generation != generation
        else { return true }
        guard let put = file.response else { return false }
        return !stored.hasOvertaken(put.row.received, now: now())
    }

    /// Notes the derivation of a file that has its row now, with a new response, and removes files
    /// and responses that this outdates. Returns the known derivation.
    func link(
        _ written: WrittenFile, in transaction: IndexTransaction
    ) throws -> Derivation? {
        guard transaction.hasResponses, let derivation = written.file.derivation else {
            return nil
        }
        let name = written.row.name
        guard case .response(let key, let variant, _, _) = derivation else {
            try transaction.link(
                name, checksum: written.row.checksum, to: derivation, response: nil)
            return derivation
        }
        let put = written.file.response
        let response =
            if let put {
                try enter(put, in: transaction)
            } else {
                try transaction.responseHead(.init(key: key, variant: variant))?.id
            }
        guard let response else {
            try transaction.unlink(name)
            return nil
        }
        try transaction.link(
            name, checksum: written.row.checksum, to: derivation, response: response)
        if let put { try removeOutdated(by: put, response, in: transaction) }
        return derivation
    }

    /// Enters a response into the index, unless its row has the same content and a later
    /// validation. Returns the row's number; `nil` for a response that cannot be stored.
    private func enter(_ put: ResponsePut, in transaction: IndexTransaction) throws -> Int64? {
        guard put.row.isSound else { return nil }
        if let stored = try transaction.responseHead(put.row.id) {
            let isOlder = stored.hasOvertaken(put.row.received, now: now())
            if stored.generation != put.row.generation || !isOlder {
                try transaction.update(stored.id, to: put.row)
            }
            return stored.id
        }
        let response = try transaction.insert(put.row)
        try transaction.trimResponses(after: response, of: put.row.id)
        return response
    }

    /// Removes the files of a response's former generations, and the responses that it replaces
    /// with their files.
    private func removeOutdated(
        by put: ResponsePut, _ response: Int64, in transaction: IndexTransaction
    ) throws {
        let outdated = try transaction.files(madeOf: response, except: put.row.generation)
        try discard(outdated, in: transaction)
        for variant in put.superseded where variant != put.row.variant {
            let id = IndexLog.ResponseID(key: put.row.key, variant: variant)
            guard let other = try transaction.responseHead(id) else { continue }
            try remove(other.id, in: transaction)
        }
    }

    private func remove(_ response: Int64, in transaction: IndexTransaction) throws {
        try discard(transaction.files(madeOf: response), in: transaction)
        try transaction.deleteResponse(response)
    }

    /// Removes files of the cache. A file that may not be the cache's stays, whatever the index says.
    private func discard(_ names: [String], in transaction: IndexTransaction) throws {
        for name in names {
            if mayOwn(name) {
                try delete(name, in: transaction)
            } else {
                try transaction.unlink(name)
            }
        }
    }

    // MARK: The index

    private func readingResponses<T>(_ body: (IndexTransaction) throws -> T) throws -> T? {
        try ifAvailable {
            try reading { index -> T? in index.hasResponses ? try body(index) : nil }
        }
    }

    @discardableResult
    private func changingResponses<T>(_ body: (IndexTransaction) throws -> T) throws -> T? {
        try ifAvailable {
            try changing { index -> T? in index.hasResponses ? try body(index) : nil }
        }
    }

    private func ifAvailable<T>(_ body: () throws -> T??) throws -> T? {
        try indexed {
            do {
                return try body() ?? nil
            } catch is IndexUnavailable {
                return nil
            }
        }
    }
}

extension ResponseRow {
    fileprivate var id: IndexLog.ResponseID { .init(key: key, variant: variant) }
}
