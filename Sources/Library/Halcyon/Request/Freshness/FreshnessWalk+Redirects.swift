import FoundationNetworking

/// A redirect received in place of another stored response.
struct RedirectReplacement {
    let responseKey: String
    /// The redirect to store instead; `nil` if it may not be stored.
    let stored: StoredResponse?
    let others: [ResponseRecord]
}

extension FreshnessWalk {
    /// Returns the target of the stored response, after the request's redirect handler; `nil` if it
    /// is no redirect, or one that is not followed.
    func location(_ hop: Hop) async -> URLRequest? {
        guard let record = hop.record, let sent = hop.sent, let next = record.redirect(sent) else {
            return nil
        }
        guard let handler = options.redirectHandler else { return next }
        guard let response = try? AnswerHead(record.stored).response else { return nil }
        return await handler.handleHTTPRedirection(
            for: SessionDataTask(request: sent), response: response, newRequest: next)
    }

    /// Follows a stored redirect. With a handler, the next request may take another way.
    func follow(_ record: ResponseRecord, to location: URLRequest) -> Step {
        .follow(location, options.redirectHandler == nil ? record : nil)
    }

    /// Stores a redirect if allowed. Another stored response stays until the redirect has led to an
    /// image: captive portals answer every request with a redirect to their login page.
    ///
    /// - Returns: Its record; `nil` if it is not stored, or not yet.
    mutating func keepRedirect(_ hop: Hop, _ answer: DownloadAnswer) -> ResponseRecord? {
        var redirect: StoredResponse?
        switch storing(hop, answer) {
        case .store(let stored):
            if options.redirectHandler == nil, !stored.leadsToSecrets { redirect = stored }
        case .refuse(let refusal):
            if !refusal.concernsTheResponse { return nil }
        }
        let others = hop.superseded(under: policy)
        guard others.isEmpty else {
            replacements.append(
                RedirectReplacement(
                    responseKey: hop.responseKey, stored: redirect, others: others))
            return nil
        }
        return redirect.flatMap { store($0, hop.responseKey, over: []) }
    }

    /// Replaces stored responses by the redirects that have led to an image.
    mutating func settleRedirects() async {
        for redirect in replacements {
            if let stored = redirect.stored {
                _ = store(stored, redirect.responseKey, over: redirect.others)
            } else {
                for other in redirect.others { await remove(other) }
            }
        }
        replacements = []
    }

    /// - Returns: The record; `nil` if there is a later response.
    private func store(
        _ redirect: StoredResponse, _ responseKey: String, over others: [ResponseRecord]
    ) -> ResponseRecord? {
        let record = responses.adopt(
            redirect, responseKey, body: nil, over: others, under: policy)
        if let record { writeAlone(record, superseding: others) }
        return record
    }
}

extension HTTPCacheUse {
    /// Returns this use, or `other` if that says more of the server: of an image and of a redirect on the
    /// way to it, or of two redirects. An image just fetched counts as fetched in any case.
    func limited(by other: HTTPCacheUse) -> HTTPCacheUse { other.rank > rank ? other : self }

    private var rank: Int {
        switch self {
        case .fresh: 0
        case .validated: 1
        case .stale: 2
        case .fetched: 3
        }
    }
}
