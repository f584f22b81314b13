import Foundation
import HalcyonWork

/// What is to be forgotten.
enum Purge: Sendable, Hashable {
    /// A picture of another server, by the key of its URL alone, with all that was made of it.
    case source(String)
    /// A file of this machine, by its URL, with all that was made of it.
    case file(String)
    /// All sources whose URLs begin so, with all that was made of them.
    case prefix(String)
    /// What plans have made of the source with this key, which is that of a URL alone; of each plan
    /// ``PictureOrigin/name(ofPlan:)``.
    case plans(Set<String>, source: String)
    case everything

    /// Whether a source is forgotten.
    func matches(source key: String, url: String) -> Bool {
        switch self {
        case .source(let source): RemoteSource.plainKey(key) == source
        case .file(let file): url == file
        case .prefix(let prefix): url.hasPrefix(prefix)
        case .plans: false
        case .everything: true
        }
    }

    /// Whether a picture is forgotten.
    func matches(_ origin: PictureOrigin) -> Bool {
        if case .plans(let plans, let source) = self {
            return RemoteSource.plainKey(origin.source) == source
                && plans.contains(origin.planName)
        }
        return matches(source: origin.source, url: origin.url)
    }
}

extension Purge {
    /// The beginning of a URL as the URLs of sources are spelled: scheme and host in small letters, and
    /// without the port that a scheme has anyway.
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

    /// As servers tell each other of it: without spaces.
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

    /// `nil` for what only another version of the server understands.
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

/// What a picture was made of, and how.
struct PictureOrigin: Sendable, Hashable {
    /// The key of the source.
    let source: String
    let url: String
    /// The canonical text of the plan.
    let plan: String

    var planName: String { Self.name(ofPlan: plan) }

    /// What stands for the canonical text of a plan in the index of files.
    static func name(ofPlan text: String) -> String { Digest.sha256.hexadecimal(text) }
}
