import HalcyonHTTP
import HalcyonServerURLs
import HalcyonWork

struct CheckedConfiguration {
    let urlRules: URLRules
    let policy: SourcePolicy
    /// The policy, which may change later.
    let sourceRules: Observed<SourcePolicy>
    let local: LocalSource?
    let client: OriginClient?
    let prefix: String
    let iiif: IIIFService?
    let watermark: StandingPicture?
    let fallback: StandingPicture?
    /// Advice about valid settings.
    let warnings: [String]

    /// - Parameter isRunning: Whether the server runs already: it goes on without writable caches.
    /// - Throws: `ConfigurationError` with all faults, by the names of the settings.
    init(
        _ configuration: ImageServerConfiguration, origins: [String: any ImageOrigin],
        isRunning: Bool = false, time: TimeSource = .system
    ) throws(ConfigurationError) {
        var configuration = configuration
        var faults: [String] = []
        configuration.signature.takeKeysFile(&faults)
        warnings = configuration.warnings
        faults += configuration.faultsOfValues
        if !isRunning, let fault = configuration.faultOfCaches { faults.append(fault) }
        faults += configuration.shared.faults
        prefix = configuration.prefix
        if !prefix.utf8.allSatisfy({ $0 == UInt8(ascii: "/") || $0.isUnreserved }) {
            faults.append("pathPrefix may have letters, digits and - . _ ~ in its segments.")
        }

        var local: LocalSource?
        if let root = configuration.sources.local.root {
            if let fault = configuration.fault(ofRoot: root) {
                faults.append(fault)
            } else {
                do {
                    local = try LocalSource(
                        root: root,
                        followsSymlinks: configuration.sources.local.followsSymlinks)
                } catch {
                    faults.append("sources.local.root: the folder \(root) cannot be opened.")
                }
            }
        }
        self.local = local

        let http = configuration.sources.http
        let patterns = http.allow.compactMap { text in
            Self.value(for: "sources.http.allow", &faults) { try SourcePattern(text) }
        }
        let isFetching = http.isEnabled && !http.allow.isEmpty
        let (iiif, faultsOfIIIF) = IIIFService.make(configuration)
        self.iiif = iiif
        faults += faultsOfIIIF
        for scheme in origins.keys.sorted() where !Self.isFree(scheme) {
            faults.append("origins: \(scheme) cannot be the scheme of an origin.")
        }
        if !isFetching, configuration.sources.local.root == nil, iiif == nil, origins.isEmpty {
            faults.append("Nothing can be served: set sources.http.allow or sources.local.root.")
        }
        policy = SourcePolicy(
            patterns: patterns, ports: Set(http.ports), allowsHTTP: isFetching,
            allowsLocal: local != nil, otherSchemes: Set(origins.keys))
        let rules = Observed(policy)
        sourceRules = rules
        client =
            !isFetching && origins.isEmpty
            ? nil
            : Self.value(for: "sources.http", &faults) {
                try OriginClient(
                    http, connectionsPerHost: configuration.work.downloadsPerHost, rules: rules,
                    origins: origins, time: time)
            }
        watermark = StandingPicture.make(
            configuration.watermark.picture, named: "watermark", policy, &faults)
        fallback = StandingPicture.make(
            configuration.fallback.picture, named: "fallback", policy, &faults)

        let (parsing, faultsOfParsing) = Self.parsing(configuration)
        faults += faultsOfParsing
        let signer = configuration.signature.signer
        do throws(PlanError) {
            urlRules = URLRules(
                parser: try PlanParser(parsing),
                sourceParser: try PlanParser(parsing.withoutPresets), signer: signer)
        } catch {
            faults += PlanParser.faults(of: parsing).map(\.reason)
            throw ConfigurationError(faults: faults)
        }
        if !faults.isEmpty { throw ConfigurationError(faults: faults) }
    }

    /// Whether a program may have sources with this scheme.
    private static func isFree(_ scheme: String) -> Bool {
        let isScheme =
            scheme.utf8.first?.isLetter == true && scheme == scheme.lowercased()
            && scheme.utf8.allSatisfy { $0.isDigit || $0.isLetter || "+-.".utf8.contains($0) }
        return isScheme && !["http", "https", "local", "upload", "file", "data"].contains(scheme)
    }

    /// Returns what `make` returns; its error becomes a fault of the setting `name`.
    private static func value<Value>(
        for name: String, _ faults: inout [String], _ make: () throws -> Value
    ) -> Value? {
        do {
            return try make()
        } catch {
            faults.append("\(name): \((error as? PlanError)?.reason ?? "\(error)")")
            return nil
        }
    }

    static func parsing(
        _ configuration: ImageServerConfiguration
    ) -> (PlanParser.Configuration, [String]) {
        var parsing = PlanParser.Configuration()
        var faults: [String] = []
        let limits = configuration.limits
        parsing.limits.options = limits.maxOptions
        parsing.limits.dpr = limits.maxDPR
        parsing.limits.blur = limits.maxBlurSigma
        parsing.limits.sourceBytes = limits.maxSourceBytes
        parsing.limits.sourcePixels = limits.maxPixels
        parsing.limits.framePixels = limits.maxFramePixels
        parsing.limits.frames = limits.maxFrames
        parsing.limits.resultDimension = limits.maxResultDimension
        let processing = configuration.processing
        parsing.limits.allowsSecurityOptions = processing.allowsSecurityOptions
        parsing.limits.allowsRaw = processing.allowsRaw
        parsing.defaults = processing.defaultOptions
        parsing.presets = processing.presets
        parsing.onlyPresets = processing.onlyPresets
        parsing.allowedOptions = processing.allowedOptions
        parsing.unavailableOptions = PlanExecution.unavailable
        parsing.rewriting.baseURL = configuration.sources.baseURL ?? ""
        parsing.rewriting.rules = configuration.sources.rewrites.compactMap { text in
            value(for: "sources.rewrites", &faults) { try SourceRewriting.Rule(text) }
        }
        return (parsing, faults)
    }
}

extension PlanParser.Configuration {
    /// For paths that have nothing but a source.
    var withoutPresets: PlanParser.Configuration {
        var plain = self
        plain.presets = []
        plain.onlyPresets = false
        return plain
    }
}

extension ImageServerConfiguration.Processing {
    var defaultOptions: ProcessingOptions {
        var options = ProcessingOptions()
        options.stripMetadata = stripsMetadata
        options.keepCopyright = keepsCopyright
        options.stripColorProfile = stripsColorProfile
        options.autoRotate = autoRotates
        return options
    }
}
