import Foundation
import HalcyonServerURLs

/// The pictures that are served by the IIIF Image API, and its limits.
struct IIIFService: Sendable {
    let limits: IIIFLimits
    /// The properties that all pictures have in `info.json`.
    let extras: IIIFInfo.Extras
    let sources: IIIFSources
    let folders: [String: LocalSource]
    /// With a slash at both ends.
    let prefix: String

    /// Returns `nil` when the API is off or its settings have faults, and the faults.
    static func make(_ configuration: ImageServerConfiguration) -> (IIIFService?, [String]) {
        let settings = configuration.iiif
        guard settings.isEnabled else { return (nil, []) }
        var faults: [String] = []
        var rules: [IIIFSources.Rule] = []
        var folders: [String: LocalSource] = [:]
        for path in settings.tables {
            guard let data = FileManager.default.contents(atPath: path),
                let table = try? JSONDecoder().decode([String: String].self, from: data)
            else {
                faults.append("iiif.tables: \(path) is no JSON file of identifiers and sources.")
                continue
            }
            rules.append(.table(table))
        }
        for path in settings.directories {
            do {
                folders[path] = try LocalSource(
                    root: path, followsSymlinks: configuration.sources.local.followsSymlinks)
                rules.append(.directory(path, extensions: settings.extensions))
            } catch {
                faults.append("iiif.directories: the folder \(path) cannot be opened.")
            }
        }
        for text in settings.templates {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                faults.append("iiif.templates: \(text) is not EXPRESSION=URL.")
                continue
            }
            do throws(PlanError) {
                rules.append(.template(try .init(match: parts[0], url: parts[1])))
            } catch {
                faults.append("iiif.templates: \(error.reason)")
            }
        }
        if settings.directories.isEmpty, settings.templates.isEmpty, settings.tables.isEmpty {
            faults.append("iiif.enabled: set iiif.directories, iiif.templates or iiif.tables.")
        }
        let extras = extras(settings, &faults)
        var limits = IIIFLimits()
        limits.maxWidth = settings.maxWidth
        limits.maxHeight = settings.maxHeight
        limits.maxArea = settings.maxArea
        limits.resultDimension = configuration.limits.maxResultDimension
        limits.isStrictlyConfined = settings.isStrictlyConfined
        let segments = settings.prefix.split(separator: "/")
        if segments.isEmpty { faults.append("iiif.prefix is empty.") }
        let service = IIIFService(
            limits: limits, extras: extras, sources: IIIFSources(rules: rules), folders: folders,
            prefix: "/" + segments.joined(separator: "/") + "/")
        return (faults.isEmpty ? service : nil, faults)
    }

    private static func extras(
        _ settings: ImageServerConfiguration.IIIF, _ faults: inout [String]
    ) -> IIIFInfo.Extras {
        var extras = IIIFInfo.Extras()
        let statements = [
            "creativecommons.org/", "www.creativecommons.org/", "rightsstatements.org/",
        ]
        if let rights = settings.rights {
            let isKnown = ["http://", "https://"].contains { scheme in
                statements.contains { rights.hasPrefix(scheme + $0) }
            }
            if !isKnown {
                faults.append(
                    "iiif.rights: \(rights) is no URI of creativecommons.org or rightsstatements.org."
                )
            }
            extras.rights = rights
        }
        func links(_ name: String, _ texts: [String]) -> [IIIFInfo.Link] {
            texts.compactMap { text in
                let words = text.split(separator: " ").map(String.init)
                if words.count == 2 { return IIIFInfo.Link(id: words[0], type: words[1]) }
                faults.append("iiif.\(name): \(text) is no URI with a type behind it.")
                return nil
            }
        }
        extras.partOf = links("partOf", settings.partOf)
        extras.seeAlso = links("seeAlso", settings.seeAlso)
        extras.service = links("service", settings.service)
        return extras
    }

    /// Returns the part of a target after the prefix; `nil` for other targets.
    func path(of target: String) -> String? {
        guard target.hasPrefix(prefix) else { return nil }
        return String(target.dropFirst(prefix.count).prefix { $0 != "?" })
    }

    /// Finds the picture of an identifier in the first place that has it.
    func find(
        _ identifier: IIIFIdentifier, in finder: SourceFinder, for asker: SourceAsker,
        until ending: Ending
    ) async throws(Failure) -> FoundSource {
        for candidate in sources.candidates(for: identifier) {
            switch candidate {
            case .file(let path, let directory):
                guard let folder = folders[directory] else { continue }
                let visit = finder.purges.visit()
                do throws(Failure) {
                    var source = FoundSource(try await folder.find(path.segments), in: folder)
                    source.visit = visit
                    source.limit = finder.maxBytes
                    return source
                } catch {
                    // The next place may have it.
                    continue
                }
            case .source(let text):
                return try await finder.find(text, for: asker, until: ending)
            }
        }
        throw Failure(.notFound, "There is no picture with this identifier")
    }
}
