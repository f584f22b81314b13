import Foundation
import HalcyonServerURLs

extension ServerFailure {
    /// Returns the failure in words for the page: no full stop, and the setting to change if one helps.
    ///
    /// - Parameter fetches: Whether the server fetches sources from any other servers.
    func words(fetches: Bool) -> String {
        switch self {
        case .badRequest: "The request cannot be read"
        case .invalidPath: "The URL of the picture is not complete"
        case .invalidOption: "A value is not one that its field can have"
        case .unsupportedOption: "This server does not have the option"
        case .optionForbidden: "The option is switched off; set processing.allowedOptions"
        case .forbidden: "The request was refused; load the page again"
        case .expired: "The URL has expired"
        case .iiifRegion: "The picture has no such region"
        case .iiifSize: "The picture cannot have this size"
        case .iiifRotation: "The picture cannot be turned so"
        case .iiifQuality: "The picture does not have this quality"
        case .iiifFormat, .formatUnsupported:
            "This server does not write the format; choose another one"
        case .notFound: "There is nothing at this URL"
        case .sourceNotAllowed where fetches:
            "This server does not fetch from there; add it to sources.http.allow"
        case .sourceNotAllowed:
            "This server fetches from no other servers; set sources.http.allow"
        case .unknownScheme: "Sources begin with https, http or local"
        case .sourceUnreachable: "The server of the source cannot be reached"
        case .sourceNotFound: "There is no such picture; check its name"
        case .sourceStatus: "The server of the source does not send the picture"
        case .sourceBusy: "The server of the source has too much to do; try again later"
        case .sourceTimeout: "The server of the source is too slow"
        case .sourceIncomplete: "Only a part of the picture has come; try again"
        case .sourceTooLarge: "The file is too large; raise limits.maxSourceBytes"
        case .sourceFormat: "The file is not a picture of a known format"
        case .sourceTooComplex: "The picture is too large to be decoded; raise limits.maxPixels"
        case .sourceDamaged: "The picture is damaged"
        case .urlTooLong, .headersTooLarge: "The URL or the header of the request is too long"
        case .methodNotAllowed, .methodUnknown: "The URL does not take requests of this kind"
        case .expectationFailed: "The server does not meet what the request expects"
        case .busy: "The server has too much to do; try again later"
        case .memoryShort: "The server is short of memory; try again later"
        case .deadline: "The picture took too long; try again or raise work.requestTimeout"
        case .draining: "The server is shutting down"
        case .clientGone: "The request was given up"
        case .internalError: "The server has failed; its log has details"
        }
    }

    /// Returns the words of all codes as JSON, for the page's script.
    static func allWords(fetches: Bool) -> String {
        let words = Dictionary(
            all.map { ($0.code, $0.words(fetches: fetches)) },
            uniquingKeysWith: { first, _ in first })
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Texts can always be encoded.
        return (try? encoder.encode(words)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
