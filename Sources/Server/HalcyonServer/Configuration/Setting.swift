import HalcyonHTTP

/// A setting as it appears in files, the environment and `--print-config`.
///
/// The list below is the only place that gives a setting its name.
struct Setting: Sendable {
    typealias Configuration = ImageServerConfiguration

    /// Words in the manner of `limits.maxPixels`.
    let name: String
    /// Whether its value is never shown.
    let isSecret: Bool
    /// The expected value, in words that follow "must be".
    let expected: String
    let take: @Sendable (SettingValue, inout Configuration) -> Bool
    let value: @Sendable (Configuration) -> SettingValue

    /// The name of the environment variable: `HALCYON_LIMITS_MAX_PIXELS`.
    var variable: String {
        let letters = Array(name)
        let words = letters.indices.map { index in
            let letter = letters[index]
            guard letter != "." else { return "_" }
            guard letter.isUppercase, index > 0 else { return letter.uppercased() }
            // The last capital of several begins the next word: `maxURLLength`.
            let isBeforeLower = letters[index...].dropFirst().first?.isLowercase == true
            let former = letters[index - 1]
            let beginsWord = former.isLowercase || (former.isUppercase && isBeforeLower)
            return (beginsWord ? "_" : "") + letter.uppercased()
        }
        return "HALCYON_" + words.joined()
    }

    /// The fault of a value that is not taken.
    ///
    /// - Parameter name: The name that it was given by, which may be that of the variable.
    func fault(named name: String) -> String { "\(name) must be \(expected)." }

    init<Value: SettingType>(
        _ name: String, _ path: any WritableKeyPath<Configuration, Value> & Sendable,
        isSecret: Bool = false, expected: String = Value.expected,
        where isAllowed: @escaping @Sendable (Value) -> Bool = { _ in true }
    ) {
        self.name = name
        self.isSecret = isSecret
        self.expected = expected
        take = { setting, configuration in
            guard let value = Value(setting: setting), isAllowed(value) else { return false }
            configuration[keyPath: path] = value
            return true
        }
        value = { $0[keyPath: path].setting }
    }

    init<Value: SettingType & Comparable>(
        _ name: String, _ path: any WritableKeyPath<Configuration, Value> & Sendable,
        in range: ClosedRange<Value>
    ) {
        self.init(
            name, path,
            expected: "\(Value.expected) from \(range.lowerBound) to \(range.upperBound)",
            where: range.contains)
    }

    static let all = own + shared

    private static let own: [Setting] = [
        Setting("bind", \.bind),
        Setting("bindMode", \.bindMode),
        Setting("ops.bind", \.operationsBind),
        Setting("ops.token", \.operationsToken, isSecret: true),
        Setting("trustedProxies", \.trustedProxies),
        Setting("pathPrefix", \.pathPrefix),
        Setting("secret", \.secret, isSecret: true),
        Setting("signature.keys", \.signature.keys, isSecret: true),
        Setting("signature.salts", \.signature.salts, isSecret: true),
        Setting("signature.keysFile", \.signature.keysFile),
        Setting("signature.size", \.signature.size, in: 8...32),
        Setting("signature.trusted", \.signature.trusted, isSecret: true),
        Setting("signature.required", \.signature.isRequired),
        Setting("sources.http.enabled", \.sources.http.isEnabled),
        Setting("sources.http.allow", \.sources.http.allow),
        Setting(
            "sources.http.ports", \.sources.http.ports,
            expected: "a list of ports from 1 to 65535",
            where: { $0.allSatisfy((1...65535).contains) }),
        Setting("sources.http.allowPrivate", \.sources.http.allowsPrivate),
        Setting("sources.http.allowLoopback", \.sources.http.allowsLoopback),
        Setting("sources.http.allowLinkLocal", \.sources.http.allowsLinkLocal),
        Setting("sources.http.allowAddresses", \.sources.http.allowAddresses),
        Setting("sources.http.denyAddresses", \.sources.http.denyAddresses),
        Setting("sources.http.forwardHeaders", \.sources.http.forwardHeaders),
        Setting("sources.http.redirects", \.sources.http.redirects, in: 0...20),
        Setting("sources.http.userAgent", \.sources.http.userAgent),
        Setting("sources.http.connectTimeout", \.sources.http.connectTimeout),
        Setting("sources.http.stallTimeout", \.sources.http.stallTimeout),
        Setting("sources.http.totalTimeout", \.sources.http.totalTimeout),
        Setting("sources.local.root", \.sources.local.root),
        Setting("sources.local.followSymlinks", \.sources.local.followsSymlinks),
        Setting("sources.baseURL", \.sources.baseURL),
        Setting("sources.rewrites", \.sources.rewrites),
        Setting("sources.freshness", \.sources.freshness),
        Setting("limits.maxURLLength", \.limits.maxURLLength, in: 64...16384),
        Setting("limits.maxSourceBytes", \.limits.maxSourceBytes, in: 1...(1 << 40)),
        Setting("limits.maxPixels", \.limits.maxPixels, in: 1...(1 << 40)),
        Setting("limits.maxFramePixels", \.limits.maxFramePixels),
        Setting("limits.maxDecodingBytes", \.limits.maxDecodingBytes, in: (1 << 20)...(1 << 40)),
        Setting("limits.maxFrames", \.limits.maxFrames, in: 1...10_000),
        Setting("limits.maxResultDimension", \.limits.maxResultDimension, in: 1...65535),
        Setting("limits.maxResultBytes", \.limits.maxResultBytes, in: 1...(1 << 40)),
        Setting("limits.maxOptions", \.limits.maxOptions, in: 1...1000),
        Setting("limits.maxDpr", \.limits.maxDPR, in: 1...100),
        Setting("limits.maxBlurSigma", \.limits.maxBlurSigma, in: 0...1000),
        Setting("limits.maxHeaderBytes", \.limits.maxHeaderBytes, in: 1024...(1 << 20)),
        Setting("work.downloads", \.work.downloads, in: 1...10_000),
        Setting("work.downloadsPerHost", \.work.downloadsPerHost, in: 1...10_000),
        Setting("work.decoders", \.work.decoders, in: 1...1000),
        Setting("work.avifEncoders", \.work.avifEncoders, in: 1...1000),
        Setting(
            "work.memory", \.work.memory, expected: "a number of bytes from 1048576 on",
            where: { $0.map { $0 >= 1 << 20 } ?? true }),
        Setting("work.queue", \.work.queue, in: 0...100_000),
        Setting("work.requestTimeout", \.work.requestTimeout),
        Setting("work.headTimeout", \.work.headTimeout),
        Setting("work.writeTimeout", \.work.writeTimeout),
        Setting("work.idleTimeout", \.work.idleTimeout),
        Setting("work.maxConnections", \.work.maxConnections, in: 1...1_000_000),
        Setting("drain.delay", \.drain.delay),
        Setting("drain.timeout", \.drain.timeout),
        Setting("drain.idleTimeout", \.drain.idleTimeout),
        Setting("processing.presets", \.processing.presets),
        Setting("processing.onlyPresets", \.processing.onlyPresets),
        Setting("processing.allowedOptions", \.processing.allowedOptions),
        Setting("processing.allowSecurityOptions", \.processing.allowsSecurityOptions),
        Setting("processing.quality", \.processing.quality, in: 1...100),
        Setting(
            "processing.formatQuality", \.processing.formatQuality,
            expected: "a table of numbers from 1 to 100 by format",
            where: { $0.values.allSatisfy((1...100).contains) }),
        Setting("processing.preferredFormats", \.processing.preferredFormats),
        Setting("processing.stripMetadata", \.processing.stripsMetadata),
        Setting("processing.keepCopyright", \.processing.keepsCopyright),
        Setting("processing.stripColorProfile", \.processing.stripsColorProfile),
        Setting("processing.autoRotate", \.processing.autoRotates),
        Setting("processing.allowRaw", \.processing.allowsRaw),
        Setting("processing.progressiveJPEG", \.processing.writesProgressiveJPEG),
        Setting(
            "processing.effort", \.processing.effort,
            expected:
                "a table of numbers: webp 0 to 6, avif and heic 0 to 9, jxl 1 to 9, gif 1 to 10",
            where: { $0.allSatisfy { efforts[$0.key]?.contains($0.value) ?? false } }),
        Setting("processing.svg", \.processing.svg),
        Setting("processing.truncated", \.processing.truncated),
        Setting("processing.isolation", \.processing.isolation),
        Setting("negotiation.formats", \.negotiation.formats),
        Setting("negotiation.clientHints", \.negotiation.usesClientHints),
        Setting(
            "negotiation.widthSteps", \.negotiation.widthSteps,
            expected: "a rising list of whole numbers", where: { $0.isRising && $0[0] > 0 }),
        Setting(
            "negotiation.dprSteps", \.negotiation.dprSteps,
            expected: "a rising list of numbers", where: { $0.isRising && $0[0] > 0 }),
        Setting("http.ttl", \.http.ttl),
        Setting("http.maxTTL", \.http.maxTTL),
        Setting("http.errorTTL", \.http.errorTTL),
        Setting("http.staleWhileRevalidate", \.http.staleWhileRevalidate),
        Setting("http.cacheControlPassthrough", \.http.passesCacheControl),
        Setting("http.etag", \.http.sendsETag),
        Setting("http.lastModified", \.http.sendsLastModified),
        Setting("http.canonical", \.http.sendsCanonical),
        Setting("http.allowOrigin", \.http.allowOrigin),
        Setting("http.debugHeaders", \.http.sendsDebugHeaders),
        Setting("http.errorBodies", \.http.errorBodies),
        Setting("cache.directory", \.cache.directory),
        Setting("cache.sources.bytes", \.cache.sources.bytes, in: 0...(1 << 50)),
        Setting("cache.sources.memoryBytes", \.cache.sources.memoryBytes, in: 0...(1 << 40)),
        Setting("cache.sources.maxAge", \.cache.sources.maxAge),
        Setting("cache.results.bytes", \.cache.results.bytes, in: 0...(1 << 50)),
        Setting("cache.results.memoryBytes", \.cache.results.memoryBytes, in: 0...(1 << 40)),
        Setting("cache.results.maxAge", \.cache.results.maxAge),
        Setting("cache.negativeTTL", \.cache.negativeTTL),
        Setting("cache.staleWhileRevalidate", \.cache.staleWhileRevalidate),
        Setting("cache.staleIfError", \.cache.staleIfError),
        Setting("publicURL", \.publicURL),
        Setting("playground", \.playground),
        Setting("info.includePrivateMetadata", \.info.includesPrivateMetadata),
        Setting("iiif.enabled", \.iiif.isEnabled),
        Setting("iiif.prefix", \.iiif.prefix),
        Setting("iiif.directories", \.iiif.directories),
        Setting("iiif.extensions", \.iiif.extensions),
        Setting("iiif.templates", \.iiif.templates),
        Setting("iiif.tables", \.iiif.tables),
        Setting("iiif.rights", \.iiif.rights),
        Setting("iiif.partOf", \.iiif.partOf),
        Setting("iiif.seeAlso", \.iiif.seeAlso),
        Setting("iiif.service", \.iiif.service),
        Setting("iiif.maxWidth", \.iiif.maxWidth),
        Setting("iiif.maxHeight", \.iiif.maxHeight),
        Setting("iiif.maxArea", \.iiif.maxArea),
        Setting("iiif.strictConfined", \.iiif.isStrictlyConfined),
        Setting("watermark.path", \.watermark.picture.path),
        Setting("watermark.url", \.watermark.picture.url),
        Setting("watermark.data", \.watermark.picture.data),
        Setting("watermark.opacity", \.watermark.opacity, in: 0...1),
        Setting("fallback.path", \.fallback.picture.path),
        Setting("fallback.url", \.fallback.picture.url),
        Setting("fallback.data", \.fallback.picture.data),
        Setting(
            "fallback.status", \.fallback.status, expected: "0 or a status from 200 to 599",
            where: { $0 == 0 || (200...599).contains($0) && $0 != 204 && $0 != 304 }),
        Setting("fallback.ttl", \.fallback.ttl),
        Setting("log.level", \.log.level),
        Setting("log.format", \.log.format),
        Setting("log.hits", \.log.showsHits),
        Setting("tracing.propagate", \.tracing.propagatesContext),
    ]

    /// The effort ranges of the encoders, by format.
    private static let efforts = [
        "webp": 0...6, "avif": 0...9, "heic": 0...9, "jxl": 1...9, "gif": 1...10,
    ]
}

extension Array where Element: Comparable {
    /// Whether there are elements, each greater than the one before it.
    fileprivate var isRising: Bool { !isEmpty && zip(self, dropFirst()).allSatisfy { $0 < $1 } }
}
