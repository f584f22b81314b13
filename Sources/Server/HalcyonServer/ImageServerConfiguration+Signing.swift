import Foundation
import HalcyonServerURLs
package import HalcyonWork

extension ImageServerConfiguration {
    /// The path that asks for `path`, signed with the first key, and below the prefix; see
    /// ``ImageServer/sign(_:)``. Nothing else of the configuration has to make sense.
    public func sign(_ path: String) -> String? {
        var signature = signature
        var faults: [String] = []
        signature.takeKeysFile(&faults)
        return signature.signer.signed(path.hasPrefix("/") ? path : "/" + path).map { prefix + $0 }
    }

    /// The path that asks for `path`, signed with the first key, once it is known that a server with these settings
    /// answers it; see ``ImageServer/sign(_:)``.
    ///
    /// Where the settings name no sources, as on a machine that only signs, any source is taken.
    ///
    /// - Throws: `ConfigurationError` for keys that cannot be used, `PlanError` for a path that would be refused.
    package func signed(_ path: String, time: TimeSource = .system) throws -> String {
        var configuration = self
        var faults: [String] = []
        configuration.signature.takeKeysFile(&faults)
        faults += configuration.faultsOfKeys
        guard faults.isEmpty else { throw ConfigurationError(faults: faults) }

        guard !path.contains("?"), !path.contains("#") else {
            throw PlanError(.invalidPath, "The path has a ? or #: write %3F or %23 in a source")
        }
        // The signature is proved after what proxies do to a path has been undone.
        let path = try SignedPath(target: "/-" + (path.hasPrefix("/") ? path : "/" + path)).path
        guard let signed = configuration.signature.signer.signed(path).map({ prefix + $0 }) else {
            throw ConfigurationError(faults: [
                "There is no key to sign with: set signature.keys and signature.salts."
            ])
        }
        let most = limits.maxURLLength
        guard signed.utf8.count <= most else {
            throw PlanError(.urlTooLong, "The URL has more than \(most) bytes")
        }
        let (parsing, faultsOfParsing) = CheckedConfiguration.parsing(configuration)
        guard faultsOfParsing.isEmpty else { throw ConfigurationError(faults: faultsOfParsing) }
        let plan = try Self.plan(path, parsing)
        guard !plan.isExpired(at: time.date.timeIntervalSince1970) else {
            throw PlanError(.expired, "The URL has expired")
        }
        if let policy = try policyOfSources { _ = try policy.reference(plan.source) }
        return signed
    }

    /// Reads the path of a picture, or else of information about one.
    private static func plan(
        _ path: String, _ parsing: PlanParser.Configuration
    ) throws(PlanError) -> ImagePlan {
        do throws(PlanError) {
            return try PlanParser(parsing).parse(path: path)
        } catch {
            // What is wrong with it as a picture's says more.
            guard let fields = try? InfoFields(path: path) else { throw error }
            return try PlanParser(parsing.withoutPresets).parse(path: fields.sourcePath)
        }
    }

    /// `nil` where no sources are named.
    private var policyOfSources: SourcePolicy? {
        get throws(PlanError) {
            let http = sources.http
            guard !http.allow.isEmpty || sources.local.root != nil else { return nil }
            var patterns: [SourcePattern] = []
            for text in http.allow { patterns.append(try SourcePattern(text)) }
            return SourcePolicy(
                patterns: patterns, ports: Set(http.ports),
                allowsHTTP: http.isEnabled && !patterns.isEmpty,
                allowsLocal: sources.local.root != nil)
        }
    }
}

extension ImageServerConfiguration.Signature {
    /// Adds the pairs of the file with keys, behind those that are set. Faults tell nothing of what it holds.
    mutating func takeKeysFile(_ faults: inout [String]) {
        guard let path = keysFile else { return }
        guard let data = FileManager.default.contents(atPath: path),
            let text = String(data: data, encoding: .utf8)
        else {
            faults.append("signature.keysFile: the file \(path) cannot be read.")
            return
        }
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            guard words.count == 2 else {
                faults.append(
                    "signature.keysFile: line \(number + 1) of \(path) is not a key and its salt.")
                continue
            }
            keys.append(String(words[0]))
            salts.append(String(words[1]))
        }
    }

    /// Signs with the keys that are there, and proves signatures.
    var signer: PathSigner {
        PathSigner(
            pairs: zip(keys, salts).compactMap { PathSigner.Pair(hexadecimalKey: $0, salt: $1) },
            size: size, trusted: trusted)
    }
}
