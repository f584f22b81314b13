package import Foundation

/// Responses of servers, and which files were made of them. What a response says is the caller's business.
///
/// Other processes change the same rows at any time, so none is remembered here. When the index cannot be
/// used now, because others lock it, nothing is known and nothing changes. All members block.
///
/// All throw `StorageError.cannotRead` when the index cannot be read or written.
extension CacheDirectory {
    /// What is known of a file's origin; `nil` when there is no such file, or it has expired.
    package func origin(of name: String) throws -> FileOrigin? {
        guard known({ $0.isReady }) else { return nil }
        if let origin = try mirroredOrigin(of: name) { return origin }
        // What the index says is said of the file before.
        if known({ $0.unwritten.row(name) }) != nil {
            return FileOrigin(derivation: nil, response: nil)
        }
        let found = try readingResponses { try $0.origin(of: name) } ?? nil
        guard let (origin, checksum, written) = found else { return nil }
        // An access may have moved it that is not written yet.
        let expires = known { $0.accesses.accesses[name]?.expires } ?? written
        guard expires > now().timeIntervalSince1970 else { return nil }
        known { $0.mirror.note(origin.derivation, of: name, checksum: checksum) }
        return origin
    }

    /// The origin of a file that has not changed since this process stored it, or last asked for its
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
        let id = AccessLog.ResponseID(key: key, variant: variant)
        let response: ResponseRow? = try readingResponses { try $0.response(id) } ?? nil
        // One that is not found may have another variant by now.
        return response.map { FileOrigin(derivation: made, response: $0) }
    }

    /// The responses of a key, in all variants.
    package func responses(forKey key: String) throws -> [ResponseRow] {
        try readingResponses { try $0.responses(forKey: key) } ?? []
    }

    /// The files that were made of a generation of a response: their names, the keys that they were stored for
    /// as far as these are known, what has processed them, and whether they hold the response's body.
    package func files(
        ofResponse key: String, variant: Data, generation: Int64
    ) throws -> [(name: String, key: String?, processor: String?, isOriginal: Bool)] {
        let id = AccessLog.ResponseID(key: key, variant: variant)
        return try readingResponses { try $0.files(ofResponse: id, generation: generation) } ?? []
    }

    /// Calls `body` with the responses that match, those used last first, each with the names of the files that
    /// were made of its present generation, without a lock. Few of them are in memory at a time.
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

    /// All responses, those used last first, each with the names of the files that were made of its
    /// present generation.
    package func allResponses() throws -> [(row: ResponseRow, files: [String])] {
        var responses: [(row: ResponseRow, files: [String])] = []
        try forEachResponse { responses.append(($0, $1)) }
        return responses
    }

    /// Each may have a mebibyte of header fields.
    private static let responsesAtATime = 8

    /// Stores a response without a file, such as a redirect; what was made of a former generation is
    /// removed. A response with content is kept only with files of its generation.
    /// - Throws: Also `StorageError.cannotMakeFolder`.
    package func put(_ put: ResponsePut) throws {
        if !known({ $0.isReady }) { try makeFolder() }
        try changingResponses { transaction, folder in
            let id = put.row.id
            let stored = try transaction.responseHead(id)
            if let stored, stored.generation != put.row.generation,
                stored.hasOvertaken(put.row.received, now: now())
            {
                return
            }
            guard let response = try enter(put, in: transaction) else { return }
            try removeOutdated(by: put, response, in: transaction, of: folder)
            try transaction.forgetOutdated(response)
        }
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
        guard row.isSound else { return false }
        return try changingResponses { transaction, folder in
            let old = AccessLog.ResponseID(key: row.key, variant: oldVariant)
            guard let stored = try transaction.responseHead(old),
                stored.generation == row.generation
            else { return false }
            // Somebody else has validated it since.
            if stored.hasOvertaken(row.received, now: now()) { return true }
            if row.variant != oldVariant, let other = try transaction.responseHead(row.id) {
                try remove(other.id, in: transaction, of: folder)
            }
            try transaction.update(stored.id, to: row)
            return true
        } ?? false
    }

    /// Removes a response with all files that were made of it.
    package func removeResponse(key: String, variant: Data) throws {
        try changingResponses { transaction, folder in
            guard let stored = try transaction.responseHead(.init(key: key, variant: variant))
            else { return }
            try remove(stored.id, in: transaction, of: folder)
        }
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
        let matching = try responses(where: matches)
        guard !matching.isEmpty else { return (0, 0) }
        return try changingResponses { transaction, folder in
            var count = (responses: 0, files: 0)
            for id in matching {
                guard let response = try transaction.responseHead(id)?.id else { continue }
                let files = try transaction.files(madeOf: response).filter { name in
                    isMeant(try transaction.row(named: name)?.key ?? "")
                }
                for name in files { try discard(name, in: transaction, of: folder) }
                count.files += files.count
                if !files.isEmpty { count.responses += 1 }
            }
            return count
        } ?? (0, 0)
    }

    /// Has the responses that match validated before they are used again. Their files stay.
    /// - Returns: How many match.
    package func invalidateResponses(
        where matches: (_ key: String, _ url: String) -> Bool
    ) throws -> Int {
        let matching = try responses(where: matches)
        guard !matching.isEmpty else { return 0 }
        return try changingResponses { transaction, _ in
            try transaction.invalidate(matching)
        } ?? 0
    }

    private func responses(
        where matches: (_ key: String, _ url: String) -> Bool
    ) throws -> [AccessLog.ResponseID] {
        let names = try readingResponses { try $0.responseNames() } ?? []
        return names.filter { matches($0.id.key, $0.url) }.map(\.id)
    }

    /// Notes that a response is used now: in memory, to be written some seconds later.
    package func noteUse(ofResponse key: String, variant: Data) {
        let date = now().timeIntervalSince1970
        let response = AccessLog.ResponseID(key: key, variant: variant)
        flush(known { ($0.accesses.note(date, of: response), $0.accesses.isFull) })
    }

    // MARK: As part of a store

    /// Whether a file is to be stored: not one that was made of a response which has been overtaken
    /// meanwhile by one with other content.
    func admits(_ file: NewFile, in transaction: IndexTransaction) throws -> Bool {
        guard transaction.hasResponses,
            case .response(let key, let variant, let generation, _) = file.derivation,
            let stored = try transaction.responseHead(.init(key: key, variant: variant)),
            stored.generation != generation
        else { return true }
        guard let put = file.response else { return false }
        return !stored.hasOvertaken(put.row.received, now: now())
    }

    /// Notes what a file was made of that has its row now, with the response that came with it, and
    /// removes what this response puts out of date. Returns what is known from then on.
    func link(
        _ written: WrittenFile, in transaction: IndexTransaction, of folder: CacheFolder
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
        if let put { try removeOutdated(by: put, response, in: transaction, of: folder) }
        return derivation
    }

    /// Enters a response into the index, unless it has the same content there and was validated since.
    /// Returns its row's number; `nil` for a response that cannot be kept.
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

    /// Removes the files of a response's former generations, and the responses whose place it takes with
    /// theirs.
    private func removeOutdated(
        by put: ResponsePut, _ response: Int64, in transaction: IndexTransaction,
        of folder: CacheFolder
    ) throws {
        for name in try transaction.files(madeOf: response, except: put.row.generation) {
            try discard(name, in: transaction, of: folder)
        }
        for variant in put.superseded where variant != put.row.variant {
            let id = AccessLog.ResponseID(key: put.row.key, variant: variant)
            guard let other = try transaction.responseHead(id) else { continue }
            try remove(other.id, in: transaction, of: folder)
        }
    }

    private func remove(
        _ response: Int64, in transaction: IndexTransaction, of folder: CacheFolder
    ) throws {
        for name in try transaction.files(madeOf: response) {
            try discard(name, in: transaction, of: folder)
        }
        try transaction.deleteResponse(response)
    }

    /// Removes a file of the cache. One that is somebody else's stays, whatever the index says.
    private func discard(
        _ name: String, in transaction: IndexTransaction, of folder: CacheFolder
    ) throws {
        if mayOwn(name) {
            try delete(name, in: transaction, of: folder)
        } else {
            try transaction.unlink(name)
        }
    }

    // MARK: The index

    private func readingResponses<T>(_ body: (IndexTransaction) throws -> T) throws -> T? {
        try indexed {
            do {
                return try withIndex(validated: true) { index in
                    try index.read { $0.hasResponses ? try body($0) : nil }
                } ?? nil
            } catch is IndexUnavailable {
                return nil
            }
        }
    }

    @discardableResult
    private func changingResponses<T>(
        _ body: (IndexTransaction, CacheFolder) throws -> T
    ) throws -> T? {
        try indexed {
            do {
                return try changing { transaction, folder -> T? in
                    transaction.hasResponses ? try body(transaction, folder) : nil
                } ?? nil
            } catch is IndexUnavailable {
                return nil
            }
        }
    }
}

extension ResponseRow {
    fileprivate var id: AccessLog.ResponseID { .init(key: key, variant: variant) }
}
