import Foundation
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonWork

/// A valid configuration, and the objects made of it.
struct CheckedConfiguration {
    let urlRules: URLRules
    let policy: SourcePolicy
    /// The policy, which may change later.
    let sourceRules: SourceRules
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
        warnings = Self.warnings(configuration)
        faults += Self.faultsOfAddresses(configuration)
        faults += Self.faultsOfSignatures(configuration)
        faults += Self.faultsOfFormats(configuration)
        faults += Self.faultsOfForwarding(configuration)
        faults += Self.faultsOfHTTP(configuration)
        if !isRunning, let fault = Self.faultOfCaches(configuration) { faults.append(fault) }
        faults += configuration.shared.faults
        prefix = configuration.prefix
        if !prefix.utf8.allSatisfy({ $0 == UInt8(ascii: "/") || $0.isUnreserved }) {
            faults.append("pathPrefix may have letters, digits and - . _ ~ in its segments.")
        }

        var local: LocalSource?
        if let root = configuration.sources.local.root {
            if let fault = Self.fault(of: root, configuration) {
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
        var patterns: [SourcePattern] = []
        for text in http.allow {
            do throws(PlanError) {
                patterns.append(try SourcePattern(text))
            } catch {
                faults.append("sources.http.allow: \(error.reason)")
            }
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
        sourceRules = SourceRules(policy)
        client =
            isFetching || !origins.isEmpty
            ? Self.client(configuration, sourceRules, origins, time, &faults) : nil
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

    // MARK: Faults

    private static func warnings(_ configuration: ImageServerConfiguration) -> [String] {
        let signature = configuration.signature
        let shortest = (signature.keys + signature.salts).map(\.count).min() ?? .max
        guard shortest < 64, !configuration.isLoopbackOnly else { return [] }
        return [
            "A key or salt of signature.keys and signature.salts has \(shortest / 2) bytes; 32 are "
                + "recommended."
        ]
    }

    private static func faultsOfAddresses(_ configuration: ImageServerConfiguration) -> [String] {
        var faults: [String] = []
        if configuration.bind.isEmpty { faults.append("bind names no address.") }
        let all = configuration.bind + (configuration.operationsBind.map { [$0] } ?? [])
        var seen: Set<ListenAddress> = []
        for address in all where !seen.insert(address).inserted {
            if case .tcp(_, 0) = address { continue }
            faults.append("\(address) is there twice in bind and ops.bind.")
        }
        let tokens = [
            ("secret", configuration.secret), ("ops.token", configuration.operationsToken),
        ]
        for case (let name, let token?) in tokens {
            if token.isEmpty {
                faults.append("\(name) is empty.")
            } else if !token.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
                || token.hasPrefix(" ") || token.hasSuffix(" ")
            {
                faults.append(
                    "\(name) may have characters of ASCII only, and no spaces at its ends.")
            }
        }
        if configuration.http.errorBodies == .full, !configuration.isLoopbackOnly {
            faults.append("http.errorBodies may be full only where all of bind is loopback.")
        }
        return faults
    }

    static func faultsOfKeys(_ configuration: ImageServerConfiguration) -> [String] {
        let signature = configuration.signature
        // Fewer can be guessed by trying, also on loopback addresses.
        let leastBytes = configuration.isLoopbackOnly ? 4 : 8
        var faults: [String] = []
        if signature.keys.count != signature.salts.count {
            faults.append(
                "signature.keys has \(signature.keys.count) texts, signature.salts "
                    + "\(signature.salts.count): each key needs a salt.")
        }
        for (name, texts) in [("keys", signature.keys), ("salts", signature.salts)] {
            for (number, text) in texts.enumerated() {
                let isHexadecimal =
                    text.utf8.count.isMultiple(of: 2) && text.allSatisfy(\.isHexDigit)
                    && text.allSatisfy(\.isASCII)
                if !isHexadecimal {
                    faults.append("signature.\(name): number \(number + 1) is not hexadecimal.")
                } else if text.count < 2 * leastBytes {
                    faults.append(
                        "signature.\(name): number \(number + 1) has \(text.count / 2) bytes; "
                            + "at least \(leastBytes) are needed.")
                }
            }
        }
        return faults
    }

    private static func faultsOfSignatures(_ configuration: ImageServerConfiguration) -> [String] {
        let signature = configuration.signature
        var faults = faultsOfKeys(configuration)
        for text in signature.trusted where text.isEmpty || text.contains("/") {
            faults.append("signature.trusted: “\(text)” cannot stand in place of a signature.")
        }
        if signature.isRequired, signature.keys.isEmpty, signature.trusted.isEmpty {
            faults.append(
                "URLs have to be signed, and there is no key: set signature.keys and "
                    + "signature.salts, or signature.keysFile, or start with --unsigned on a loopback address."
            )
        }
        if configuration.showsPlayground, signature.isRequired, signature.keys.isEmpty {
            faults.append("playground: the page needs a key to sign with; set signature.keys.")
        }
        if !signature.isRequired, !configuration.isLoopbackOnly {
            faults.append("URLs may be unsigned only where all of bind is loopback.")
        }
        return faults
    }

    private static func faultsOfForwarding(_ configuration: ImageServerConfiguration) -> [String] {
        let names = configuration.sources.http.forwardHeaders
        var faults = names.compactMap { name in
            ForwardedFields.refusal(of: name).map { "sources.http.forwardHeaders: \(name) \($0)." }
        }
        if configuration.secret != nil,
            names.contains(where: { $0.lowercased() == "authorization" })
        {
            faults.append(
                "sources.http.forwardHeaders: Authorization would tell secret to other servers.")
        }
        return faults
    }

    private static func faultsOfHTTP(_ configuration: ImageServerConfiguration) -> [String] {
        var faults: [String] = []
        if let text = configuration.publicURL {
            let isPlain = !text.contains { "?#".contains($0) }
            if !isPlain || (try? SourceURL(text)) == nil {
                faults.append(
                    "publicURL: \(text) is not a URL such as https://img.example.com/images.")
            }
        }
        let origins = configuration.http.allowOrigin
        for text in origins where text != "*" {
            // A browser's origin has no path and no default port.
            let url = try? SourceURL(text)
            if url == nil || url?.text != text + "/" {
                faults.append(
                    "http.allowOrigin: \(text) is not * or an origin such as https://example.com.")
            }
        }
        if origins.count > 1, origins.contains("*") {
            faults.append("http.allowOrigin: * stands for all, and has no others beside it.")
        }
        let work = configuration.work
        let times = [
            ("requestTimeout", work.requestTimeout), ("headTimeout", work.headTimeout),
            ("writeTimeout", work.writeTimeout), ("idleTimeout", work.idleTimeout),
        ]
        for (name, time) in times where time == .zero {
            faults.append("work.\(name) is 0: no request could be answered.")
        }
        return faults
    }

    /// Returns a fault of the cache folder, found by writing. A full disk is none: it may have room later.
    private static func faultOfCaches(_ configuration: ImageServerConfiguration) -> String? {
        let cache = configuration.cache
        guard cache.sources.bytes > 0 || cache.results.bytes > 0 else { return nil }
        var folder = configuration.cacheDirectory.path
        var made: [String] = []
        defer { for path in made.reversed() { rmdir(path) } }
        func fault(_ number: Int32) -> String? {
            guard number != ENOSPC, number != EDQUOT else { return nil }
            return "cache.directory: \(configuration.cacheDirectory.path) cannot be written to: "
                + "\(String(cString: strerror(number)).lowercased())."
        }
        var missing: [String] = []
        while access(folder, F_OK) != 0, errno == ENOENT, folder != "/", !folder.isEmpty {
            missing.append(folder)
            folder = URL(fileURLWithPath: folder).deletingLastPathComponent().path
        }
        for path in missing.reversed() {
            if mkdir(path, 0o700) == 0 {
                made.append(path)
            } else if errno != EEXIST {
                return fault(errno)
            }
        }
        let file = configuration.cacheDirectory.path + "/.probe-" + .randomHexadecimal()
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return fault(errno) }
        close(descriptor)
        unlink(file)
        return nil
    }

    private static func faultsOfFormats(_ configuration: ImageServerConfiguration) -> [String] {
        var faults: [String] = []
        let modern: Set<OutputFormat> = [.avif, .webp, .jxl]
        for name in configuration.negotiation.formats
        where !(OutputFormat(urlName: name).map(modern.contains) ?? false) {
            faults.append("negotiation.formats: \(name) is none of avif, webp and jxl.")
        }
        let preferred = configuration.processing.preferredFormats
        for name in preferred {
            guard let format = OutputFormat(urlName: name), OutputFormat.writable.contains(format)
            else {
                faults.append("processing.preferredFormats: \(name) cannot be written here.")
                continue
            }
        }
        if preferred.isEmpty { faults.append("processing.preferredFormats is empty.") }
        for name in configuration.processing.formatQuality.keys.sorted()
        where OutputFormat(urlName: name) == nil {
            faults.append("processing.formatQuality: there is no format \(name).")
        }
        return faults
    }

    /// Returns a fault of the folder of local sources.
    private static func fault(
        of root: String, _ configuration: ImageServerConfiguration
    ) -> String? {
        let path = URL(fileURLWithPath: root).resolvingSymlinksInPath().standardizedFileURL.path
        if path == "/" { return "sources.local.root may not be /." }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder),
            isFolder.boolValue
        else { return "sources.local.root: there is no folder \(root)." }
        let cache = configuration.cacheDirectory.resolvingSymlinksInPath().standardizedFileURL.path
        if cache == path || cache.hasPrefix(path + "/") {
            return "sources.local.root may not hold the folder of the caches, \(cache)."
        }
        return nil
    }

    /// Whether a program may have sources with this scheme.
    private static func isFree(_ scheme: String) -> Bool {
        let isScheme =
            scheme.utf8.first?.isLetter == true && scheme == scheme.lowercased()
            && scheme.utf8.allSatisfy { $0.isDigit || $0.isLetter || "+-.".utf8.contains($0) }
        return isScheme && !["http", "https", "local", "upload", "file", "data"].contains(scheme)
    }

    // MARK: Results

    private static func client(
        _ configuration: ImageServerConfiguration, _ rules: SourceRules,
        _ origins: [String: any ImageOrigin], _ time: TimeSource, _ faults: inout [String]
    ) -> OriginClient? {
        do {
            return try OriginClient(
                configuration.sources.http,
                connectionsPerHost: configuration.work.downloadsPerHost, rules: rules,
                origins: origins, time: time)
        } catch {
            faults.append("sources.http: \(error)")
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
        for text in configuration.sources.rewrites {
            do throws(PlanError) {
                parsing.rewriting.rules.append(try SourceRewriting.Rule(text))
            } catch {
                faults.append("sources.rewrites: \(error.reason)")
            }
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
    /// The options of a URL without options.
    var defaultOptions: ProcessingOptions {
        var options = ProcessingOptions()
        options.stripMetadata = stripsMetadata
        options.keepCopyright = keepsCopyright
        options.stripColorProfile = stripsColorProfile
        options.autoRotate = autoRotates
        return options
    }
}
