import HalcyonServerURLs

extension Failure {
    /// The change by which an operator gets the request answered; `nil` where the request is at fault, or
    /// somebody else's server.
    var advice: String? {
        switch kind {
        case .sourceNotAllowed, .sourceUnreachable: adviceOnSource
        case .unknownScheme: "sources are http, https, and local with sources.local.root"
        case .optionForbidden:
            "set processing.allowedOptions, processing.allowSecurityOptions or processing.allowRaw"
        case .sourceTooLarge: "raise limits.maxSourceBytes"
        case .sourceTooComplex:
            lacksMemory
                ? "raise limits.maxDecodingBytes or work.memory"
                : "raise limits.maxPixels, limits.maxFramePixels or limits.maxResultBytes"
        case .sourceTimeout:
            "raise sources.http.connectTimeout, sources.http.stallTimeout or "
                + "sources.http.totalTimeout"
        case .sourceDamaged where hasStoppedDecoder: nil
        case .sourceDamaged: "set processing.truncated to accept for files that are cut short"
        case .urlTooLong: "raise limits.maxURLLength"
        case .headersTooLarge: "raise limits.maxHeaderBytes"
        case .busy: "raise work.queue"
        case .deadline: "raise work.requestTimeout"
        case .iiifSize: "iiif.maxWidth, iiif.maxHeight and iiif.maxArea limit sizes"
        default: nil
        }
    }

    private var adviceOnSource: String? {
        switch refusal {
        case SourceRefusal.allowList.rawValue:
            "add a pattern for it to sources.http.allow (--allow-source)"
        case SourceRefusal.port.rawValue: "add the port to sources.http.ports"
        case SourceRefusal.scheme.rawValue:
            "set sources.http.allow (--allow-source) for http and https, "
                + "sources.local.root (--local-root) for local"
        case "private": "set sources.http.allowPrivate, or allow it by sources.http.allowAddresses"
        case "loopback": "set sources.http.allowLoopback"
        case "linkLocal": "set sources.http.allowLinkLocal"
        case "denied": "take the address out of sources.http.denyAddresses"
        case "redirect": "add a pattern for where it leads to sources.http.allow (--allow-source)"
        default: nil
        }
    }

    /// - Parameter advising: Whether it says what the operator can change.
    func told(advising: Bool) -> PlanError {
        guard advising, let advice else { return PlanError(kind, detail) }
        let reason = detail.hasSuffix(".") ? String(detail.dropLast()) : detail
        return PlanError(kind, "\(reason): \(advice)")
    }
}
