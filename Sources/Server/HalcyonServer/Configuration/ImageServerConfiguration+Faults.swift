import Foundation
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonWork

/// Collects the texts of a function's statements.
@resultBuilder enum FaultList {
    static func buildExpression(_ fault: String) -> [String] { [fault] }
    static func buildExpression(_ faults: [String]) -> [String] { faults }
    static func buildBlock(_ faults: [String]...) -> [String] { faults.flatMap(\.self) }
    static func buildOptional(_ faults: [String]?) -> [String] { faults ?? [] }
    static func buildEither(first faults: [String]) -> [String] { faults }
    static func buildEither(second faults: [String]) -> [String] { faults }
    static func buildArray(_ faults: [[String]]) -> [String] { faults.flatMap(\.self) }
}

extension ImageServerConfiguration {
    /// The faults that need no look at files and networks.
    @FaultList var faultsOfValues: [String] {
        faultsOfAddresses
        faultsOfKeys
        faultsOfSignatures
        faultsOfFormats
        faultsOfForwarding
        faultsOfHTTP
    }

    @FaultList var warnings: [String] {
        let shortest = (signature.keys + signature.salts).map(\.count).min() ?? .max
        if shortest < 64, !isLoopbackOnly {
            "A key or salt of signature.keys and signature.salts has \(shortest / 2) bytes; 32 are "
                + "recommended."
        }
    }

    @FaultList private var faultsOfAddresses: [String] {
        if bind.isEmpty { "bind names no address." }
        let all = bind + [operationsBind].compactMap(\.self)
        for (index, address) in all.enumerated()
        where !address.takesAnyPort && all[..<index].contains(address) {
            "\(address) is there twice in bind and ops.bind."
        }
        for case (let name, let token?) in [("secret", secret), ("ops.token", operationsToken)] {
            let isASCII = token.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            if token.isEmpty {
                "\(name) is empty."
            } else if !isASCII || token.hasPrefix(" ") || token.hasSuffix(" ") {
                "\(name) may have characters of ASCII only, and no spaces at its ends."
            }
        }
        if http.errorBodies == .full, !isLoopbackOnly {
            "http.errorBodies may be full only where all of bind is loopback."
        }
    }

    @FaultList var faultsOfKeys: [String] {
        let (keys, salts) = (signature.keys, signature.salts)
        // Fewer can be guessed by trying, also on loopback addresses.
        let leastBytes = isLoopbackOnly ? 4 : 8
        if keys.count != salts.count {
            "signature.keys has \(keys.count) texts, signature.salts \(salts.count): each key needs "
                + "a salt."
        }
        for (name, texts) in [("keys", keys), ("salts", salts)] {
            for (number, text) in texts.enumerated() {
                let isHexadecimal =
                    text.utf8.count.isMultiple(of: 2) && text.allSatisfy(\.isHexDigit)
                    && text.allSatisfy(\.isASCII)
                if !isHexadecimal {
                    "signature.\(name): number \(number + 1) is not hexadecimal."
                } else if text.count < 2 * leastBytes {
                    "signature.\(name): number \(number + 1) has \(text.count / 2) bytes; at least "
                        + "\(leastBytes) are needed."
                }
            }
        }
    }

    @FaultList private var faultsOfSignatures: [String] {
        for text in signature.trusted where text.isEmpty || text.contains("/") {
            "signature.trusted: “\(text)” cannot stand in place of a signature."
        }
        if signature.isRequired, signature.keys.isEmpty, signature.trusted.isEmpty {
            "URLs have to be signed, and there is no key: set signature.keys and signature.salts, or "
                + "signature.keysFile, or start with --unsigned on a loopback address."
        }
        if showsPlayground, signature.isRequired, signature.keys.isEmpty {
            "playground: the page needs a key to sign with; set signature.keys."
        }
        if !signature.isRequired, !isLoopbackOnly {
            "URLs may be unsigned only where all of bind is loopback."
        }
    }

    @FaultList private var faultsOfFormats: [String] {
        let modern: Set<OutputFormat> = [.avif, .webp, .jxl]
        for name in negotiation.formats
        where OutputFormat(urlName: name).map(modern.contains) != true {
            "negotiation.formats: \(name) is none of avif, webp and jxl."
        }
        for name in processing.preferredFormats
        where OutputFormat(urlName: name).map(OutputFormat.writable.contains) != true {
            "processing.preferredFormats: \(name) cannot be written here."
        }
        if processing.preferredFormats.isEmpty { "processing.preferredFormats is empty." }
        for name in processing.formatQuality.keys.sorted()
        where OutputFormat(urlName: name) == nil {
            "processing.formatQuality: there is no format \(name)."
        }
    }

    @FaultList private var faultsOfForwarding: [String] {
        let names = sources.http.forwardHeaders
        for name in names {
            if name.isEmpty || !name.utf8.allSatisfy(\.isTokenByte) {
                "sources.http.forwardHeaders: \(name) is no name of a header field."
            } else if Self.belongsToConnection(name.lowercased()) {
                """
                sources.http.forwardHeaders: \(name) belongs to the connection or to the server's \
                own requests.
                """
            }
        }
        if secret != nil, names.contains(where: { $0.lowercased() == "authorization" }) {
            "sources.http.forwardHeaders: Authorization would tell secret to other servers."
        }
    }

    /// Whether the field, whose name is in lower case, is one of the connection to the client, or decides
    /// about the kind of response that the server expects.
    private static func belongsToConnection(_ name: String) -> Bool {
        let names: Set = [
            "accept-encoding", "connection", "content-length", "content-type", "expect", "host",
            "http2-settings", "keep-alive", "range", "te", "trailer", "transfer-encoding",
            "upgrade", "via",
        ]
        return names.contains(name) || name.hasPrefix("if-") || name.hasPrefix("proxy-")
    }

    @FaultList private var faultsOfHTTP: [String] {
        if let publicURL {
            let isPlain = !publicURL.contains { "?#".contains($0) }
            if !isPlain || (try? SourceURL(publicURL)) == nil {
                "publicURL: \(publicURL) is not a URL such as https://img.example.com/images."
            }
        }
        // A browser's origin has no path and no default port.
        for text in http.allowOrigin
        where text != "*" && (try? SourceURL(text))?.text != text + "/" {
            "http.allowOrigin: \(text) is not * or an origin such as https://example.com."
        }
        if http.allowOrigin.count > 1, http.allowOrigin.contains("*") {
            "http.allowOrigin: * stands for all, and has no others beside it."
        }
        let times = [
            ("requestTimeout", work.requestTimeout), ("headTimeout", work.headTimeout),
            ("writeTimeout", work.writeTimeout), ("idleTimeout", work.idleTimeout),
        ]
        for (name, time) in times where time == .zero {
            "work.\(name) is 0: no request could be answered."
        }
    }

    /// A fault of the cache folder, found by writing. A full disk is none: it may have room later.
    var faultOfCaches: String? {
        guard cache.sources.bytes > 0 || cache.results.bytes > 0 else { return nil }
        if cache.directory?.isEmpty == true { return "cache.directory is empty." }
        let path = cacheDirectory.path
        var folder = path
        var made: [String] = []
        defer { for path in made.reversed() { rmdir(path) } }
        func fault(_ number: Int32) -> String? {
            guard number != ENOSPC, number != EDQUOT else { return nil }
            let reason = String(cString: strerror(number)).lowercased()
            return "cache.directory: \(path) cannot be written to: \(reason)."
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
        let file = path + "/.probe-" + .randomHexadecimal()
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return fault(errno) }
        close(descriptor)
        unlink(file)
        return nil
    }

    func fault(ofRoot root: String) -> String? {
        let path = URL(fileURLWithPath: root).resolvingSymlinksInPath().standardizedFileURL.path
        if path == "/" { return "sources.local.root may not be /." }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder),
            isFolder.boolValue
        else { return "sources.local.root: there is no folder \(root)." }
        let cache = cacheDirectory.resolvingSymlinksInPath().standardizedFileURL.path
        if cache == path || cache.hasPrefix(path + "/") {
            return "sources.local.root may not hold the folder of the caches, \(cache)."
        }
        return nil
    }
}
