package import Foundation

/// The beginning of a download that broke off, and what is needed to go on.
package struct PartialDownload: Sendable, Hashable {
    package let validator: ResumptionValidator
    /// The bytes at hand.
    package var length: Int64
    /// The length of the whole, if the answer said it.
    package let total: Int64?
    /// The fields of the answer that it began with.
    package let fields: HTTPFields

    package init(
        validator: ResumptionValidator, length: Int64, total: Int64?, fields: HTTPFields
    ) {
        self.validator = validator
        self.length = length
        self.total = total
        self.fields = fields
    }

    /// The fields that ask for the rest, in addition to the request's own. `Accept-Encoding` takes
    /// the place of the request's: ranges count bytes as they are sent.
    package var requestFields: HTTPFields {
        [
            "Range": "bytes=\(length)-", "If-Range": validator.text,
            "Accept-Encoding": "identity",
        ]
    }

    /// Whether the rest may be asked for in this request.
    package static func canResume(_ request: HTTPCacheRequest) -> Bool {
        request.method == "GET" && !request.hasOwnConditions
            && !CacheControlDirectives(of: request.fields).noStore
    }

    /// The fields of the whole as if it had come in one answer, once its last part is there: those
    /// of the first answer, updated by the last.
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
    /// What is kept of a download that ended after `length` bytes; `nil` when it could not be
    /// continued or may not be kept.
    ///
    /// - Parameters:
    ///   - status: 200, or 206 of an answer that continued a partial.
    ///   - fields: of the answer that the download began with.
    ///   - total: the length of the whole, if known.
    ///   - minimumSize: less than so many bytes are sooner loaded again.
    ///   - maximumSize: of the whole.
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
            let validator = ResumptionValidator(of: fields, received: received)
        else { return nil }
        return PartialDownload(validator: validator, length: length, total: total, fields: fields)
    }
}

extension HTTPFields {
    /// Whether the bytes sent are not those of the content.
    var hasContentCoding: Bool {
        values("Content-Encoding").contains { line in
            line.utf8.split(separator: .comma).contains {
                let coding = String(decoding: $0, as: UTF8.self).trimmingFieldSpaces
                return !coding.isEmpty && coding.lowercasedASCII != "identity"
            }
        }
    }
}
