import HalcyonServerURLs
import HalcyonStorage
import Synchronization

/// The reloadable rules of a running server: for reading and verifying URLs.
struct URLRules: Sendable {
    let parser: PlanParser
    /// Reads paths that contain only a source.
    let sourceParser: PlanParser
    let signer: PathSigner
    /// By targets; ends with the rules that they were read by.
    let known = KnownPlan.memory()
}

/// The current rules for fetching URLs.
final class SourceRules: Sendable {
    private let present: Mutex<SourcePolicy>

    init(_ policy: SourcePolicy) { present = Mutex(policy) }

    var policy: SourcePolicy { present.withLock { $0 } }

    func take(_ policy: SourcePolicy) { present.withLock { $0 = policy } }
}

extension ImageServer {
    /// Takes over keys, presets and the allowed sources of another configuration, and reopens the
    /// folders of local sources, if all of that is valid. Requests under way go on by the former
    /// rules.
    ///
    /// - Returns: The names of other changed settings, which take effect with the next server.
    /// - Throws: `ConfigurationError` with all faults; then nothing has changed.
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
            // There is no client that could fetch anything.
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

    /// The settings that can change while the server runs.
    private static let reloadable: Set = [
        "signature.keys", "signature.salts", "signature.keysFile", "signature.size",
        "signature.trusted", "sources.http.allow", "sources.http.ports", "processing.presets",
        "processing.onlyPresets", "processing.allowedOptions",
    ]
}
