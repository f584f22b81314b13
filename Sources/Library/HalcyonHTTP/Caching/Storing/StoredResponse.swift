package import Foundation

/// A response without its content, as the cache remembers it.
package struct StoredResponse: Sendable, Hashable {
    /// The URL that was asked; never one that the response names.
    package var url: URL
    package var status: Int
    /// Those that may be stored, in the order received.
    package var fields: HTTPFields
    /// The request fields that its `Vary` names: in lower case, sorted. `["*"]` when no request
    /// can be matched.
    package var vary: [String]
    /// The hash of their values in the request that it answered; empty without `vary`.
    package var variant: [UInt8]
    /// When its request was sent, or that of its last validation.
    package var requested: Date
    /// When its header fields arrived, or those of its last validation.
    package var received: Date
    /// It must be validated before it is used (RFC 9111, section 4.4).
    package var isInvalidated: Bool

    package init(
        url: URL, status: Int, fields: HTTPFields, vary: [String] = [], variant: [UInt8] = [],
        requested: Date, received: Date, isInvalidated: Bool = false
    ) {
        self.url = url
        self.status = status
        self.fields = fields
        self.vary = vary
        self.variant = variant
        self.requested = requested
        self.received = received
        self.isInvalidated = isInvalidated
    }

    /// Its valid `Date`.
    package var date: Date? {
        fields.first("Date").flatMap { HTTPDateParser.date($0, now: received) }
    }

    /// Its valid `Last-Modified`; `nil` when there are several.
    package var lastModified: Date? { fields.lastModified(receivedAt: received) }

    /// Whether it takes the place of `stored`: an answer that was overtaken by a later one does
    /// not. Their `Date` fields tell, and where these cannot, the times of their requests.
    package func isAtLeastAsNew(as stored: StoredResponse) -> Bool {
        if let date, let storedDate = stored.date, date != storedDate { return date > storedDate }
        return requested >= stored.requested
    }
}

extension HTTPFields {
    func lastModified(receivedAt received: Date) -> Date? {
        let lines = values("Last-Modified")
        return lines.count == 1 ? HTTPDateParser.date(lines[0], now: received) : nil
    }
}
