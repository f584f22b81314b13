package import Foundation

/// The beginning of an interrupted download, with the data needed to resume it.
package struct PartialDownload: Sendable, Hashable {
    package let validator: ValidationCondition
    package var length: Int64
    /// The length of the whole, if the response gave it.
    package let total: Int64?
    package let fields: HTTPFields

    /// The fields that request the rest, in addition to the request's own. `Accept-Encoding`
    /// replaces the request's: ranges count bytes as they are sent.
    package var requestFields: HTTPFields {
        [
            "Range": "bytes=\(length)-", "If-Range": validator.line.value,
            "Accept-Encoding": "identity",
        ]
    }

    /// Whether the rest may be asked for in this request.
    package static func canResume(_ request: HTTPCacheRequest) -> Bool {
        request.method == "GET" && !request.hasOwnConditions
            && !CacheControlDirectives(of: request.fields).noStore
    }

    /// The fields of the complete response once its last part has arrived: those of the first
    /// response, updated by the last.
    package func fields(completedBy fields: HTTPFields) -> HTTPFields {
        var new = fields.withoutConnection(keeping: [])
        new.remove(HTTPFields.ofContent)
        var whole = self.fields
        whole.remove(
            Set(new.lines.map(\.name.lowercasedASCII)).union(["content-range", "content-length"]))
        for line in new.lines { whole.append(line.name, line.value) }
        if let total = total ?? ContentRange(of: fields)?.total {
            whole.append("Content-Length", String(total))
        }
        return whole
    }
}

extension HTTPCachePolicy {
    /// The partial of a download that ended after `length` bytes; `nil` when it cannot be resumed
    /// or may not be stored.
    ///
    /// - Parameters:
    ///   - status: 200, or 206 of a response that continued a partial.
    ///   - fields: of the download's first response.
    ///   - total: the length of the whole, if known.
    ///   - minimumSize: in bytes; a smaller partial is downloaded again instead.
    ///   - maximumSize: of the whole, in bytes.
    package func partial(
        of request: HTTPCacheRequest, status: Int, fields: HTTPFields, received: Date,
        length: Int64, total: Int64?, minimumSize: Int64, maximumSize: Int64
    ) -> PartialDownload? {
        let rules = rules(of: fields)
        guard PartialDownload.canResume(request), status == 200 || status == 206,
            !fields.isTooLargeToStore, !fields.hasContentCoding,
            !fields.values("Accept-Ranges").contains(where: {
                $0.trimmingFieldSpaces.lowercasedASCII == "none"
            }),
            !rules.directives.noStore, !rules.isForOneUserOnly,
            !isShared || !request.fields.contains("Authorization") || rules.allowsAuthorization,
            length > 0, length >= minimumSize,
            total.map({ length < $0 && $0 <= maximumSize }) ?? true,
            let validator = ValidationCondition(strong: fields, received: received)
        else { return nil }
        return PartialDownload(validator: validator, length: length, total: total, fields: fields)
    }
}

extension HTTPFields {
    /// Whether the body has a content coding other than `identity`.
    var hasContentCoding: Bool {
        members("Content-Encoding").contains { $0.lowercasedASCII != "identity" }
    }
}

/// The effect of the response to a range request on the partial.
package enum ResumedAnswer: Sendable, Hashable {
    /// So many bytes follow the partial, of a whole of this length. When they end before it, the
    /// next range is requested.
    case append(count: Int64, total: Int64)
    /// The content is the whole, as it is now. The partial is removed.
    case whole
    /// The partial is removed, and the same request is sent once without it.
    case startOver
    /// The resource is gone. The partial is removed; the response is an error.
    case gone
    /// The response says nothing about the partial, which stays: a redirect, or an error.
    case unrelated
}

extension PartialDownload {
    /// Interprets the response to the request for the rest by its status and, for a `206`, its
    /// fields.
    package func answer(status: Int, fields: HTTPFields) -> ResumedAnswer {
        switch status {
        case 206: continuation(by: fields)
        case 200, 203: .whole
        // A 304 was not requested.
        case 304, 416: .startOver
        case 404, 410: .gone
        default: .unrelated
        }
    }

    /// Checks the response to the request for the rest (RFC 9110, sections 14.4 and 15.3.7). A
    /// range that begins earlier is refused too: a new request is always correct.
    private func continuation(by fields: HTTPFields) -> ResumedAnswer {
        guard let range = ContentRange(of: fields), range.first == length,
            // Without a length of the whole nothing would show that it is complete.
            let total = total ?? range.total, range.last < total,
            range.total == nil || range.total == total,
            fields.values("Content-Length").allSatisfy({
                $0.trimmingFieldSpaces == String(range.count)
            }),
            validator.isConfirmed(by: fields), !fields.hasContentCoding
        else { return .startOver }
        if let type = fields.first("Content-Type").map(Self.mediaType),
            type != self.fields.first("Content-Type").map(Self.mediaType)
        {
            return .startOver
        }
        return .append(count: range.count, total: total)
    }

    /// `image/PNG; q=1` as `image/png`.
    private static func mediaType(_ value: String) -> String {
        String(decoding: value.utf8.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
            .trimmingFieldSpaces.lowercasedASCII
    }
}

extension ValidationCondition {
    /// The strong validator of a response, which shows that two responses carry the same bytes, so
    /// that the parts of a download may be joined (RFC 9110, section 13.1.5); `nil` when it has none.
    ///
    /// A weak or malformed `ETag` says that bytes may differ; no date helps then. A `Last-Modified`
    /// is strong when it lies at least 60 s before the `Date` of its response: two changes in the
    /// same second would otherwise look alike (RFC 9110, section 8.8.2.2).
    package init?(strong fields: HTTPFields, received: Date) {
        if let tag = EntityTag(of: fields) {
            guard tag.isStrong, fields.values("ETag").count == 1 else { return nil }
            self = .entityTag(tag)
            return
        }
        guard let modified = fields.lastModified(receivedAt: received),
            let date = fields.date(receivedAt: received),
            date.timeIntervalSince(modified) >= 60,
            let text = fields.first("Last-Modified")
        else { return nil }
        self = .lastModified(text)
    }

    /// Whether the validators of another response, where present, confirm the same bytes.
    func isConfirmed(by fields: HTTPFields) -> Bool {
        switch self {
        case .entityTag(let tag):
            return EntityTag(of: fields).map(tag.stronglyEquals) ?? true
        case .lastModified(let text):
            // A new tag belongs to a later state of the server.
            if fields.contains("ETag") { return false }
            return fields.first("Last-Modified").map { $0.utf8.elementsEqual(text.utf8) } ?? true
        }
    }
}
