import HalcyonWork

/// Reads the paths of image URLs: options, each a segment with colons, and then a source.
///
/// ```swift
/// let parser = try PlanParser(PlanParser.Configuration())
/// let path = "/rs:fill:300:200/plain/https://example.com/a.jpg@webp"
/// let plan = try parser.parse(path: path)
/// ```
///
/// The result has not been checked against lists of sources, against the clock or against the
/// formats that this machine can write.
public struct PlanParser: Sendable {
    /// The options that URLs may have, and the defaults.
    public struct Configuration: Sendable {
        public var limits = PlanLimits()
        /// The options used where neither a preset nor the URL sets them.
        public var defaults = ProcessingOptions()
        /// `name=option/option/…`; empty lines and lines that begin with `#` are ignored. The
        /// preset `default` is applied first to every URL.
        public var presets: [String] = []
        /// Whether URLs consist of names of presets, separated by `:`, and a source.
        public var onlyPresets = false
        /// The options that URLs may have, by any of their names; `nil`: all.
        public var allowedOptions: [String]?
        /// Unavailable options; URLs with them get an error.
        public var unavailableOptions: Set<OptionName> = []
        public var rewriting = SourceRewriting()

        public init() {}
    }

    private let configuration: Configuration
    private let allowed: Set<OptionName>?
    private let presets: PresetTable

    /// - Throws: The first of ``faults(of:)``.
    public init(_ configuration: Configuration = Configuration()) throws(PlanError) {
        if let fault = Self.faults(of: configuration).first { throw fault }
        self.init(checked: configuration)
    }

    private init(checked configuration: Configuration) {
        self.configuration = configuration
        allowed = configuration.allowedOptions.map { names in
            Set(names.compactMap { OptionName(urlName: $0) })
        }
        presets = PresetTable(configuration.presets)
    }

    /// All errors in presets and in the list of allowed options.
    public static func faults(of configuration: Configuration) -> [PlanError] {
        let unknown = (configuration.allowedOptions ?? []).filter { OptionName(urlName: $0) == nil }
        var faults = unknown.map {
            PlanError(.invalidOption, "Allowed options: there is no option “\($0)”.")
        }
        let parser = PlanParser(checked: configuration)
        faults += parser.presets.faults
        for name in parser.presets.names {
            var application = parser.application { _ in }
            do throws(PlanError) {
                try parser.applyPreset(name, to: &application, within: [])
            } catch {
                faults.append(PlanError(error.failure, "Preset \(name): \(error.reason)"))
            }
        }
        return faults
    }

    /// - Parameters:
    ///   - path: The signed text: ``SignedPath/path``.
    ///   - hints: Applied before presets and options.
    ///   - note: Called with warnings for the log.
    public func parse(
        path: String, hints: ClientHints = ClientHints(),
        note: @escaping (String) -> Void = { _ in }
    ) throws(PlanError) -> ImagePlan {
        var segments = path.parts(at: "/")[...]
        if path.utf8.first == UInt8(ascii: "/") { segments = segments.dropFirst() }
        if let first = segments.first, !configuration.onlyPresets,
            ProcessingOptions.ResizingType(rawValue: first) != nil || first == "crop"
        {
            throw PlanError(
                .invalidPath,
                "The path begins with “\(first)”: options are written as resize:\(first):300:200.")
        }
        let options: ArraySlice<String>
        if configuration.onlyPresets {
            guard let names = segments.first, !names.isEmpty else {
                throw PlanError(.invalidPath, "The URL has to begin with the name of a preset.")
            }
            options = ["\(OptionName.preset.shortest):\(names)"]
            segments = segments.dropFirst()
        } else {
            options = segments.prefix { $0.utf8.contains(UInt8(ascii: ":")) }
            segments = segments.dropFirst(options.count)
        }
        let source = try SourceText(segments: segments)
        return try plan(options: options, source: source, hints: hints, note: note)
    }

    /// Parses the text after `/-/` in unsigned URLs, for development: options as usual, or as
    /// `w=300,h=200`, and then the source as it is, with its query.
    public func parse(
        shortForm text: String, hints: ClientHints = ClientHints(),
        note: @escaping (String) -> Void = { _ in }
    ) throws(PlanError) -> ImagePlan {
        let form = try ShortForm(text)
        return try plan(options: form.options[...], source: form.source, hints: hints, note: note)
    }

    private func plan(
        options segments: ArraySlice<String>, source: SourceText, hints: ClientHints,
        note: @escaping (String) -> Void
    ) throws(PlanError) -> ImagePlan {
        guard segments.count <= configuration.limits.options else {
            throw PlanError(
                .invalidOption,
                "The URL has \(segments.count) options; \(configuration.limits.options) are allowed."
            )
        }
        var application = application(note)
        if let width = hints.width { application.options.width = width }
        if let dpr = hints.dpr { application.options.dpr = min(dpr, application.limits.dpr) }
        if presets.contains(PresetTable.defaultName) {
            try applyPreset(PresetTable.defaultName, to: &application, within: [])
        }
        for segment in segments {
            try apply(
                segment, to: &application,
                isAllowed: { configuration.onlyPresets || allowed?.contains($0) ?? true })
        }
        if let format = source.format, !application.options.raw {
            try application.apply(.format, OptionArguments(name: "format", values: [format]))
        }
        let text = configuration.rewriting.rewritten(source.text)
        // Names of files need not be text.
        guard !text.isEscaped || text.lowercased().hasPrefix("local:") else {
            throw PlanError(.invalidPath, "The source is not UTF-8.")
        }
        return ImagePlan(source: text, options: application.options)
    }

    private func application(_ note: @escaping (String) -> Void) -> OptionApplication {
        OptionApplication(options: configuration.defaults, limits: configuration.limits, note: note)
    }

    /// - Parameter outer: The presets that this segment is a part of.
    private func apply(
        _ segment: String, to application: inout OptionApplication, within outer: [String] = [],
        isAllowed: (OptionName) -> Bool
    ) throws(PlanError) {
        let parts = segment.parts(at: ":")
        let arguments = OptionArguments(name: parts[0], values: Array(parts.dropFirst()))
        let shown = OptionArguments.shown(parts[0])
        if OptionName.unsupported.contains(parts[0]) {
            throw PlanError(.unsupportedOption, "Option \(shown) is not supported by Halcyon.")
        }
        guard let name = OptionName(urlName: parts[0]) else {
            throw PlanError(.invalidOption, "There is no option “\(shown)”.")
        }
        guard isAllowed(name) else {
            throw PlanError(.invalidOption, "Option \(shown) is not allowed on this server.")
        }
        guard !configuration.unavailableOptions.contains(name) else {
            throw PlanError(.unsupportedOption, "Option \(shown) is not supported by Halcyon.")
        }
        if let most = name.maximumArguments, arguments.count > most {
            throw arguments.wrong("it has \(arguments.count) arguments, and may have \(most).")
        }
        guard name == .preset else { return try application.apply(name, arguments) }
        for preset in arguments.values where !preset.isEmpty {
            guard presets.contains(preset) else {
                throw PlanError(
                    .invalidOption, "There is no preset “\(OptionArguments.shown(preset))”.")
            }
            try applyPreset(preset, to: &application, within: outer)
        }
    }

    private func applyPreset(
        _ name: String, to application: inout OptionApplication, within outer: [String]
    ) throws(PlanError) {
        guard !outer.contains(name) else {
            application.note("Preset \(name) contains itself; it is left out there.")
            return
        }
        let wasTrusted = application.isTrusted
        application.isTrusted = true
        for option in presets[name] {
            try apply(option, to: &application, within: outer + [name], isAllowed: { _ in true })
        }
        application.isTrusted = wasTrusted
    }
}
