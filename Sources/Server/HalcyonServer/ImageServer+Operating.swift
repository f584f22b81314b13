import HalcyonWork

extension ImageServer {
    /// The version of Halcyon.
    public static let version = Release.version

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
        if stores.sources.remote == nil, checked.client != nil {
            // There is no client that could fetch anything.
            others.append("sources.http.allow")
        } else {
            stores.sources.rules.update { $0 = checked.policy }
        }
        // Another folder may have its name by now.
        stores.sources.local?.take(checked.local)
        for (path, folder) in stores.iiif?.service.folders ?? [:] {
            folder.take(checked.iiif?.folders[path])
        }
        urls.take(checked.urlRules)
        return others
    }

    /// The settings that can change while the server runs.
    private static let reloadable: Set = [
        "signature.keys", "signature.salts", "signature.keysFile", "signature.size",
        "signature.trusted", "sources.http.allow", "sources.http.ports", "processing.presets",
        "processing.onlyPresets", "processing.allowedOptions",
    ]
}
