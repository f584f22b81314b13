public import Configuration

extension ImageServerConfiguration {
    /// The settings that a reader of swift-configuration finds under their names, such as `limits.maxPixels`;
    /// the others as they are by default.
    ///
    /// - Throws: `ConfigurationError` with all that is wrong. What the reader has under a name as a type that no
    ///   setting has, such as bytes, is not found.
    public init(reader: ConfigReader) throws(ConfigurationError) {
        self.init()
        var faults: [String] = []
        for setting in Setting.all {
            guard let value = SettingValue(of: setting, in: reader) else { continue }
            take([setting.name: value], &faults)
        }
        if !faults.isEmpty { throw ConfigurationError(faults: faults) }
    }
}

extension SettingValue {
    /// `nil` when the reader has nothing of the name.
    ///
    /// Readers are asked for a value of a type; which one it has is found out by asking.
    fileprivate init?(of setting: Setting, in reader: ConfigReader) {
        let (key, isSecret) = (ConfigKey(setting.name), setting.isSecret)
        if let text = reader.string(forKey: key, isSecret: isSecret) {
            self = .text(text)
        } else if let flag = reader.bool(forKey: key, isSecret: isSecret) {
            self = .flag(flag)
        } else if let number = reader.int(forKey: key, isSecret: isSecret) {
            self = .number(Double(number))
        } else if let number = reader.double(forKey: key, isSecret: isSecret) {
            self = .number(number)
        } else if let texts = reader.stringArray(forKey: key, isSecret: isSecret) {
            self = .list(texts.map { .text($0) })
        } else if let numbers = reader.intArray(forKey: key, isSecret: isSecret) {
            self = .list(numbers.map { .number(Double($0)) })
        } else {
            return nil
        }
    }
}
