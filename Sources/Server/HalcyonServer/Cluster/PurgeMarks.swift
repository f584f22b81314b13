import HalcyonWork

/// The names under which servers that share a Redis record the times of purges. A reader of a
/// shared entry reads the few marks that concern it, and ignores an entry that is older than one of
/// them.
///
/// Purges of a prefix are marked at the innermost folder that encloses it, so that the marks for a
/// URL can be named: they may reach more entries than intended, never fewer.
enum PurgeMarks {
    /// The greatest number of nested folders that are told apart.
    private static let depth = 8

    static func names(of purge: Purge) -> [String] {
        switch purge {
        case .source(let key): [source(key)]
        case .file(let url): [file(url)]
        case .prefix(let prefix): [folders(of: prefix).last.map(folder) ?? everything]
        case .plans(let plans, let source): plans.sorted().map { plan($0, of: source) }
        case .everything: [everything]
        }
    }

    static func names(for origin: PictureOrigin) -> [String] {
        names(forSource: origin.source, url: origin.url)
            + [plan(origin.planName, of: origin.source)]
    }

    static func names(forSource key: String, url: String) -> [String] {
        let isFile = url.hasPrefix("local:///")
        return [everything, isFile ? file(url) : source(key)] + folders(of: url).map(folder)
    }

    /// Returns the folders that contain a URL, the outermost first, each with its final slash.
    static func folders(of url: String) -> [Substring] {
        guard let scheme = url.firstRange(of: "://") else { return [] }
        var folders: [Substring] = []
        var rest = url[scheme.upperBound...]
        while folders.count < depth, let slash = rest.firstIndex(of: "/") {
            rest = url[url.index(after: slash)...]
            folders.append(url[..<rest.startIndex])
        }
        return folders
    }

    private static let everything = "all"
    private static func source(_ key: String) -> String {
        name("source", RemoteSource.plainKey(key))
    }
    private static func file(_ url: String) -> String { name("file", url) }
    private static func folder(_ url: Substring) -> String { name("folder", String(url)) }
    private static func plan(_ plan: String, of source: String) -> String {
        name("plan", "\(plan)\n\(RemoteSource.plainKey(source))")
    }

    /// Returns a name of one length, however long URLs are.
    private static func name(_ kind: String, _ text: String) -> String {
        "\(kind)/\(Digest.sha256.hexadecimal(text))"
    }
}
