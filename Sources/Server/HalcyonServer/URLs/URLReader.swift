import HalcyonHTTP
import HalcyonServerURLs
import HalcyonStorage
import Logging
import Synchronization

/// The reloadable rules of a running server: for reading and verifying URLs.
struct URLRules: Sendable {
    let parser: PlanParser
    /// Reads paths that contain only a source.
    let sourceParser: PlanParser
    let signer: PathSigner
    /// By targets; ends with the rules that they were read by.
    fileprivate let known = KnownPlan.memory()
}

/// The plan of a recently requested URL: parsing and verifying a URL costs a twelfth of a response
/// from memory.
struct KnownPlan: CacheCostCalculable {
    let plan: ImagePlan
    /// The label of the key that signed the target, for metrics; `nil` where none is required.
    let signedBy: String?
    /// Whether hints about the client could act.
    let followsHints: Bool
    var cacheCost: Int { 1 }

    /// Returns a cache of up to 4,096 targets of usual length, each for an hour after its last use.
    static func memory() -> MemoryStorage.Backend<KnownPlan> {
        var config = MemoryStorage.Config(totalCostLimit: 0)
        config.countLimit = 4096
        config.expiration = .seconds(3600)
        return MemoryStorage.Backend(config: config)
    }
}

/// Reads and verifies the targets of requests, by the current rules.
final class URLReader: Sendable {
    private let present: Mutex<URLRules>
    let requiresSignature: Bool
    private let negotiation: ImageServerConfiguration.Negotiation
    private let metrics: ServerMetrics
    private let logger: Logger

    init(
        _ rules: URLRules, _ configuration: ImageServerConfiguration, metrics: ServerMetrics,
        logger: Logger
    ) {
        present = Mutex(rules)
        requiresSignature = configuration.signature.isRequired
        negotiation = configuration.negotiation
        self.metrics = metrics
        self.logger = logger
    }

    var rules: URLRules { present.withLock { $0 } }

    func take(_ rules: URLRules) { present.withLock { $0 = rules } }

    /// Returns the plan of a target for the client of a request, once the signature is verified.
    func plan(_ target: String, for request: ServerRequest) throws(Failure) -> KnownPlan {
        var hints = ClientHints()
        if negotiation.usesClientHints {
            var steps = ClientHints.Steps()
            steps.widths = negotiation.widthSteps
            steps.dprs = negotiation.dprSteps
            hints = ClientHints(steps: steps, values: request.fields.values)
        }
        return try plan(target, hints: hints)
    }

    func plan(_ target: String, hints: ClientHints) throws(Failure) -> KnownPlan {
        // With hints a target means more than one thing.
        let isLasting = hints == ClientHints()
        let known: KnownPlan
        if isLasting, let seen = present.withLock({ $0.known }).value(forKey: target) {
            known = seen
        } else {
            let rules = rules
            known = try read(target, hints, by: rules)
            if isLasting, target.utf8.count <= 1024 {
                rules.known.store(value: known, forKey: target)
            }
        }
        noteSignature(known.signedBy)
        return known
    }

    private func read(
        _ target: String, _ hints: ClientHints, by rules: URLRules
    ) throws(Failure) -> KnownPlan {
        if !requiresSignature, target.hasPrefix("/-/") {
            return try plan(for: hints, signedBy: nil) { (hints, note) throws(PlanError) in
                try rules.parser.parse(
                    shortForm: String(target.dropFirst(3)), hints: hints, note: note)
            }
        }
        let (signed, signedBy) = try proved(target, by: rules.signer)
        return try plan(for: hints, signedBy: signedBy) { (hints, note) throws(PlanError) in
            try rules.parser.parse(path: signed.path, hints: hints, note: note)
        }
    }

    private func plan(
        for hints: ClientHints, signedBy: String?,
        by parse: (ClientHints, @escaping (String) -> Void) throws(PlanError) -> ImagePlan
    ) throws(Failure) -> KnownPlan {
        let plan = try Failure.ofPlan { () throws(PlanError) in
            try parse(hints) { [logger] oddity in logger.debug("\(oddity)") }
        }
        var followsHints = false
        if negotiation.usesClientHints, !plan.options.raw {
            // A width that no URL names.
            let others = [ClientHints(width: 7919, dpr: negotiation.dprSteps.max()), ClientHints()]
            // What can be read for some hints only depends on them, too.
            let plans = others.map { try? parse($0, { _ in }) }
            followsHints = plans[0] != plans[1]
        }
        return KnownPlan(plan: plan, signedBy: signedBy, followsHints: followsHints)
    }

    /// Returns the path of a target, once its signature is verified.
    func verified(_ target: String) throws(Failure) -> SignedPath {
        let (signed, signedBy) = try proved(target, by: rules.signer)
        noteSignature(signedBy)
        return signed
    }

    private func noteSignature(_ signedBy: String?) {
        if let signedBy { metrics.signatures.add([signedBy]) }
    }

    /// - Returns: The path, and the label of the signing key; `nil` where no signature is required.
    private func proved(
        _ target: String, by signer: PathSigner
    ) throws(Failure) -> (SignedPath, String?) {
        try Failure.ofPlan { () throws(PlanError) in
            let signed = try SignedPath(target: target)
            guard requiresSignature else {
                guard !signed.signature.contains(":") else {
                    throw PlanError(
                        .forbidden, "The path begins with an option; the part before it is missing."
                    )
                }
                return (signed, nil)
            }
            guard let match = signer.verify(signature: signed.signature, path: signed.path) else {
                // The short form exists only where no signature is required.
                throw signed.signature == "-"
                    ? PlanError(.invalidPath, "There is no short form here.")
                    : PlanError(.forbidden, "The signature is not right.")
            }
            return (signed, match.label)
        }
    }

    /// All client hints that can remain after rounding.
    var possibleHints: [ClientHints] {
        guard negotiation.usesClientHints else { return [ClientHints()] }
        let dprs = [nil] + negotiation.dprSteps.map { Optional($0) }
        return dprs.flatMap { dpr in
            [ClientHints(dpr: dpr)]
                + negotiation.widthSteps.map {
                    ClientHints(width: Int((Double($0) / (dpr ?? 1)).rounded(.up)), dpr: dpr)
                }
        }
    }
}

extension PathSigner.Match {
    /// For metrics.
    fileprivate var label: String {
        switch self {
        case .pair(let index): "\(index)"
        case .trusted: "trusted"
        }
    }
}
