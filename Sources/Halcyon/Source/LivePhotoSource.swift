public import Foundation

/// Where the files of a live photo come from: a still image and a short film.
///
/// Only the files are handled; they are loaded, cached and handed over as they are.
public struct LivePhotoSource: Sendable {
    /// The files, in the order they are delivered in.
    public let resources: [LivePhotoResource]

    /// The type of each file is guessed from its URL's path extension.
    public init(resources: [any Resource]) {
        self.init(resources.map { LivePhotoResource(resource: $0) })
    }

    /// The type of each file is guessed from the path extension.
    public init(urls: [URL]) {
        self.init(urls.map { LivePhotoResource(downloadURL: $0) })
    }

    public init(_ resources: [LivePhotoResource]) {
        self.resources = resources
    }
}
