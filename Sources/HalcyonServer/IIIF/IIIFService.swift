import Foundation
import HalcyonServerPlans
import HalcyonWork

/// The pictures that are served by the IIIF Image API, and its limits.
struct IIIFService: Sendable {
    let limits: IIIFLimits
    let sources: IIIFSources
    /// The open folders by their paths.
    let folders: [String: LocalSource]
    /// With a slash at both ends.
    let prefix: String

    /// `nil` when it is off; and what is wrong with its settings.
    static func make(_ configuration: ImageServerConfiguration) -> (IIIFService?, [String]) {
        let settings = configuration.iiif
        guard settings.isEnabled else { return (nil, []) }
        var faults: [String] = []
        var rules: [IIIFSources.Rule] = []
        var folders: [String: LocalSource] = [:]
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
        if settings.directories.isEmpty, settings.templates.isEmpty {
            faults.append("iiif.enabled: set iiif.directories or iiif.templates.")
        }
        var limits = IIIFLimits()
        limits.maxWidth = settings.maxWidth
        limits.maxHeight = settings.maxHeight
        limits.maxArea = settings.maxArea
        limits.resultDimension = configuration.limits.maxResultDimension
        limits.isStrictlyConfined = settings.isStrictlyConfined
        let segments = settings.prefix.split(separator: "/")
        if segments.isEmpty { faults.append("iiif.prefix is empty.") }
        let service = IIIFService(
            limits: limits, sources: IIIFSources(rules: rules), folders: folders,
            prefix: "/" + segments.joined(separator: "/") + "/")
        return (faults.isEmpty ? service : nil, faults)
    }

    /// What follows the prefix in a target; `nil` for targets of others.
    func path(of target: String) -> String? {
        guard target.hasPrefix(prefix) else { return nil }
        return String(target.dropFirst(prefix.count).prefix { $0 != "?" })
    }

    /// Finds the picture of an identifier at the first place that has it.
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
