import Foundation
import HalcyonWork

enum Purge: Sendable, Hashable {
    /// A source from another server by the key of its URL alone, with all its results.
    case source(String)
    /// A local file by its URL, with all its results.
    case file(String)
    /// All sources whose URLs have this prefix, with all their results.
    case prefix(String)
    /// The results of some plans for the source with this key, which is that of a URL alone; the
    /// plans by ``PictureOrigin/name(ofPlan:)``.
    case plans(Set<String>, source: String)
    case everything

    func matches(source key: String, url: String) -> Bool {
        switch self {
        case .source(let source): RemoteSource.plainKey(key) == source
        case .file(let file): url == file
        case .prefix(let prefix): url.hasPrefix(prefix)
        case .plans: false
        case .everything: true
        }
    }

    func matches(_ origin: PictureOrigin) -> Bool {
        if case .plans(let plans, let source) = self {
            return RemoteSource.plainKey(origin.source) == source
                && plans.contains(origin.planName)
        }
        return matches(source: origin.source, url: origin.url)
    }

    /// Returns a URL prefix as sources are spelled: lower-case scheme and host, no default port.
    static func normalized(prefix: String) -> String {
        guard let scheme = prefix.firstRange(of: "://") else { return prefix }
        let host = prefix[scheme.upperBound...].prefix { $0 != "/" }
        let rest = prefix[host.endIndex...]
        var front = prefix[..<host.endIndex].lowercased()
        // Without a path, what looks like a port may be the beginning of another one.
        for usual in ["http": ":80", "https": ":443"]
        where front.hasPrefix(usual.key + "://") && front.hasSuffix(usual.value) && !rest.isEmpty {
            front.removeLast(usual.value.count)
        }
        return front + rest
    }

    /// The text form for messages between servers, without spaces.
    var message: String {
        func escaped(_ text: String) -> String {
            // Any text can be escaped.
            text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        }
        return switch self {
        case .source(let key): key
        case .file(let url): "file:" + escaped(url)
        case .prefix(let prefix): "prefix:" + escaped(prefix)
        case .plans(let names, let source):
            "plans:\(escaped(source)):" + names.sorted().joined(separator: ",")
        case .everything: "everything:"
        }
    }

    /// `nil` for a message of another version of the server.
    init?(message: String) {
        let parts = message.split(separator: ":", omittingEmptySubsequences: false)
        let text = parts.count > 1 ? String(parts[1]).removingPercentEncoding ?? "" : ""
        switch (parts[0], parts.count) {
        case ("file", 2) where !text.isEmpty: self = .file(text)
        case ("prefix", 2) where !text.isEmpty: self = .prefix(text)
        case ("plans", 3) where !text.isEmpty:
            self = .plans(Set(parts[2].split(separator: ",").map(String.init)), source: text)
        case ("everything", 2): self = .everything
        case (_, 1) where !message.isEmpty: self = .source(message)
        default: return nil
        }
    }
}

struct PictureOrigin: Sendable, Hashable {
    let source: String
    let url: String
    /// The canonical text of the plan.
    let plan: String

    var planName: String { Self.name(ofPlan: plan) }

    /// Returns the name of a plan in the file index, by the plan's canonical text.
    static func name(ofPlan text: String) -> String { Digest.sha256.hexadecimal(text) }
}
