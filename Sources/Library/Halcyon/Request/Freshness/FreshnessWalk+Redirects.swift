import Foundation
import FoundationNetworking
import HalcyonHTTP

/// A redirect that came where something else is stored.
struct RedirectReplacement {
    let responseKey: String
    /// What is to be stored in its place; `nil` when the redirect may not be stored.
    let stored: StoredResponse?
    let others: [ResponseRecord]
}

extension FreshnessWalk {
    /// Origin of the redirects on the way to an image: the cache or the server.
    enum WayUse {
        /// All were stored and fresh.
        case fresh
        /// The server was asked for one of them.
        case asked
        /// One was used although its time is over.
        case stale(HTTPStaleReason)

        /// Adds another redirect.
        mutating func note(_ use: WayUse) {
            if case .stale = self { return }
            if case .fresh = use { return }
            self = use
        }

        /// The use of an image that was reached like this: it is no better than its way. One that has just
        /// come from the server is what that has, whatever led there.
        func reported(_ use: HTTPCacheUse) -> HTTPCacheUse {
            switch (self, use) {
            case (.asked, .fresh): .validated
            case (.stale(let reason), .fresh), (.stale(let reason), .validated): .stale(reason)
            default: use
            }
        }
    }

    /// Where what is stored of the hop leads, as the request's redirect handler wants it; `nil` when it is
    /// no redirect, or one that is not to be followed.
    func location(_ hop: Hop) async -> URLRequest? {
        guard let record = hop.record, let sent = hop.sent, let next = record.redirect(sent) else {
            return nil
        }
        guard let handler = options.redirectHandler else { return next }
        guard let response = try? AnswerHead(record.stored).response else { return nil }
        return await handler.handleHTTPRedirection(
            for: SessionDataTask(request: sent), response: response, newRequest: next)
    }

    /// Follows a stored redirect. Where a handler has a say, the way may be another one the next time.
    func follow(_ record: ResponseRecord, to location: URLRequest) -> Step {
        .follow(location, options.redirectHandler == nil ? record : nil)
    }

    /// Stores a redirect that may be stored. Where something else is stored, that stays until the redirect
    /// has led to an image: networks that want a login answer every request with a redirect to their page.
    ///
    /// - Returns: Its record; `nil` when it is not stored, or not yet.
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

    /// Has the redirects that have led to an image take the place of what was stored.
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

    /// - Returns: `nil` when there is a later answer.
    private func store(
        _ redirect: StoredResponse, _ responseKey: String, over others: [ResponseRecord]
    ) -> ResponseRecord? {
        let record = responses.adopt(
            redirect, responseKey, body: nil, over: others, under: policy)
        if let record { writeAlone(record, superseding: others) }
        return record
    }
}
