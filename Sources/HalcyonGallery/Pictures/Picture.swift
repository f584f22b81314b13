import Foundation
import Halcyon

/// One picture to show.
struct Picture: Hashable, Sendable {
    /// Its file name.
    let title: String
    let url: URL
    /// Whether it moves, as far as that is known.
    var isAnimated = false

    /// Where it is loaded from; `copy` makes it another image for caches and downloads.
    func source(copy: Int = 0) -> Source {
        guard copy > 0, var parts = URLComponents(url: url, resolvingAgainstBaseURL: false),
            !url.isFileURL
        else { return url.convertToSource() }
        parts.queryItems = (parts.queryItems ?? []) + [URLQueryItem(name: "copy", value: "\(copy)")]
        return (parts.url ?? url).convertToSource()
    }
}
