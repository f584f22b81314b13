import HalcyonServerURLs
import Synchronization

/// What a running server can be told anew: how URLs are read and proved, and which sources they may name.
struct URLRules: Sendable {
    let parser: PlanParser
    /// Reads paths that have nothing but a source.
    let sourceParser: PlanParser
    let signer: PathSigner
    let known = KnownPlans()
}

/// Which URLs may be fetched at the moment.
final class SourceRules: Sendable {
    private let present: Mutex<SourcePolicy>

    init(_ policy: SourcePolicy) {
        present = Mutex(policy)
    }

    var policy: SourcePolicy { present.withLock { $0 } }

    func take(_ policy: SourcePolicy) { present.withLock { $0 = policy } }
}

extension ImageServer {
    /// Takes keys, presets and lists of what is allowed from another configuration, and opens the folders of
    /// local sources anew, if all of that makes sense. Requests under way go on by the former.
    ///
    /// - Returns: The names of other settings that differ, which count for the next server.
    /// - Throws: `ConfigurationError` with all that is wrong; then nothing has changed.
    public func reload(
        _ configuration: ImageServerConfiguration
    ) throws(ConfigurationError) -> [String] {
        _ = try CheckedConfiguration(configuration, origins: origins, isRunning: true)
        var effective = self.configuration
        var others: [String] = []
        for setting in Setting.all {
            let value = setting.value(configuration)
            if Self.reloadable.contains(setting.name) {
                _ = setting.take(value, &effective)
            } else if value != setting.value(self.configuration) {
                others.append(setting.name)
            }
        }
        let checked = try CheckedConfiguration(effective, origins: origins, isRunning: true)
        if sources.remote == nil, checked.client != nil {
            // There is nobody to fetch anything.
            others.append("sources.http.allow")
        } else {
            sources.rules.take(checked.policy)
        }
        // Another folder may have its name by now.
        sources.local?.take(checked.local)
        for (path, folder) in iiif?.folders ?? [:] { folder.take(checked.iiif?.folders[path]) }
        setURLRules(checked.urlRules)
        return others
    }

    /// Settings that are taken while the server runs.
    private static let reloadable: Set = [
        "signature.keys", "signature.salts", "signature.keysFile", "signature.size",
        "signature.trusted", "sources.http.allow", "sources.http.ports", "processing.presets",
        "processing.onlyPresets", "processing.allowedOptions",
    ]
}
