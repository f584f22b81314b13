import Foundation
import HalcyonHTTP
import HalcyonPixels
import HalcyonServerURLs
import HalcyonWork

extension OriginClient {
    /// Fetches a source like one of a web server, but from an origin of the program.
    func fetch(
        _ url: URL, from origin: any ImageOrigin, maximumBytes: Int,
        unless condition: ValidationCondition?
    ) async throws(Failure) -> Answer {
        let requested = time.date
        let version: String? =
            if case .entityTag(let tag) = condition { Self.version(of: tag.text) } else { nil }
        let request = OriginRequest(url: url, maximumBytes: maximumBytes, version: version)
        var fields = HTTPFields()
        switch try await answer(to: request, from: origin) {
        case .notFound:
            throw Failure(.sourceNotFound, "There is no such source")
        case .notModified:
            guard let version else {
                throw Failure(
                    .sourceUnreachable, "The source has not answered what it was asked",
                    cause: "it was not asked about a version")
            }
            fields.append("ETag", "\"\(version)\"")
            return Answer(
                status: 304, fields: fields, body: Data(), requested: requested, received: time.date
            )
        case .picture(let body, let version, let modified):
            guard body.count <= maximumBytes else {
                throw Failure(.sourceTooLarge, "The source has more than \(maximumBytes) bytes")
            }
            try Self.recognise(body)
            // A version that cannot be a tag is left out: the date or a digest is compared.
            if let version, version.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 }) {
                fields.append("ETag", "\"\(version)\"")
            }
            if let modified { fields.append("Last-Modified", HTTPDate.text(modified)) }
            return Answer(
                status: 200, fields: fields, body: body, requested: requested, received: time.date)
        }
    }

    /// Returns the answer of an origin, or gives up waiting, even if the origin ignores its
    /// cancellation.
    private func answer(
        to request: OriginRequest, from origin: any ImageOrigin
    ) async throws(Failure) -> OriginAnswer {
        let place = OneShot<Result<OriginAnswer, Failure>>()
        let fetch = Task {
            let answer = await Result { () async throws in try await origin.fetch(request) }
            place.give(
                answer.mapError {
                    Failure(.sourceUnreachable, "The source cannot be reached", cause: "\($0)")
                })
        }
        let timer = Task {
            try await time.sleep(for: settings.totalTimeout)
            place.give(.failure(Failure(.sourceTimeout, "The source is too slow")))
        }
        let result = await withTaskCancellationHandler {
            await place.value
        } onCancel: {
            place.give(.failure(Failure(.clientGone, "nobody waits any longer")))
        }
        fetch.cancel()
        timer.cancel()
        return try result.get()
    }

    /// - Throws: `Failure` for an empty body or an unknown format.
    static func recognise(_ body: Data) throws(Failure) {
        guard !body.isEmpty else { throw Failure(.sourceFormat, "The source is empty") }
        guard ImageSniffer.format(of: body) != .unknown else {
            throw Failure(.sourceFormat, "The source is not a picture")
        }
    }

    /// Removes the quotation marks of a tag.
    private static func version(of tag: String) -> String? {
        guard tag.count >= 2, tag.hasPrefix("\""), tag.hasSuffix("\"") else { return nil }
        return String(tag.dropFirst().dropLast())
    }
}
