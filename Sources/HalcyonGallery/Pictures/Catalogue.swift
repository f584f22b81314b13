import Foundation
import Halcyon
import HalcyonSamples
import HalcyonSampleServer

/// One picture to show.
struct Picture: Hashable, Sendable {
    /// Its file name.
    let title: String
    let url: URL
    /// Whether it moves, as far as that is known.
    var isAnimated = false
    /// The file on this machine, if it is one.
    var file: URL?

    /// Where it is loaded from; `copy` makes it another image for caches and downloads.
    func source(copy: Int = 0) -> Source {
        guard copy > 0, var parts = URLComponents(url: url, resolvingAgainstBaseURL: false),
            !url.isFileURL
        else { return url.convertToSource() }
        parts.queryItems = (parts.queryItems ?? []) + [URLQueryItem(name: "copy", value: "\(copy)")]
        return (parts.url ?? url).convertToSource()
    }
}

/// Finds the pictures that are to be shown and gives each an address.
///
/// Files are served over HTTP on this machine, so that their loads look like those of a web site.
struct Catalogue {
    private(set) var pictures: [Picture] = []
    private(set) var slow: [Picture] = []

    /// Samples that look best come first.
    private static let favourites = [
        "china.jpg", "flower.jpg", "chelsea.png", "coffee.webp", "rocket.jpg",
        "astronaut-progressive.jpg", "hubble-detail.avif", "retina.jpg", "kingfisher.svg",
        "hubble_deep_field.jpg", "kingfisher.gif", "kingfisher.avif", "kingfisher.png",
    ]
    /// How many pictures are also served slowly.
    private static let slowCount = 8
    /// How long a slow picture takes.
    private static let slowness = Duration.seconds(4)
    /// In how many pieces it comes.
    private static let pieces = 40

    init(
        _ sources: [GallerySource], samples: SamplePictures, origin: SampleServer
    ) throws {
        let sampleFiles = Self.ordered(samples.names).map {
            samples.directory.appendingPathComponent($0)
        }
        var files: [URL] = sources.isEmpty ? sampleFiles : []
        for source in sources {
            switch source {
            case .web(let url):
                pictures.append(
                    Picture(
                        title: url.lastPathComponent, url: url,
                        isAnimated: url.pathExtension.lowercased() == "gif"))
            case .file(let file): files.append(file)
            case .folder(let folder): files += Self.images(in: folder)
            }
        }
        var folders: [URL: String] = [:]
        for file in files {
            let folder = file.deletingLastPathComponent()
            let path = folders[folder] ?? "/pictures/\(folders.count)"
            if folders.updateValue(path, forKey: folder) == nil {
                origin.serve(folder, under: path)
            }
            let url = origin.url(path).appendingPathComponent(file.lastPathComponent)
            pictures.append(
                Picture(
                    title: file.lastPathComponent, url: url, isAnimated: Self.isAnimated(file),
                    file: file))
        }
        let slowFiles = (files.isEmpty ? sampleFiles : files).prefix(Self.slowCount)
        for (index, file) in slowFiles.enumerated() {
            let url = origin.url("/slow/\(index).\(file.pathExtension)")
            let data = try Data(contentsOf: file)
            origin.route(
                url.path,
                SampleAnswer(
                    data, pieces: max(1, data.count / Self.pieces),
                    pause: Self.slowness / Self.pieces))
            slow.append(Picture(title: file.lastPathComponent, url: url, file: file))
        }
    }

    private static func ordered(_ names: [String]) -> [String] {
        favourites.filter(names.contains) + names.filter { !favourites.contains($0) }
    }

    /// The images in `folder` and below, by path.
    private static func images(in folder: URL) -> [URL] {
        let walk = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        let files = (walk?.allObjects ?? []).compactMap { $0 as? URL }
        return files.filter { extensions.contains($0.pathExtension.lowercased()) }
            .sorted { $0.path < $1.path }
    }

    /// A GIF, or another file whose first bytes say so.
    private static func isAnimated(_ file: URL) -> Bool {
        switch file.pathExtension.lowercased() {
        case "gif": return true
        case "webp":
            // The extended header has flags in byte 20, of which the second one is "animation".
            guard let header = try? FileHandle(forReadingFrom: file).read(upToCount: 21),
                header.count == 21
            else { return false }
            return header[12..<16] == Data("VP8X".utf8) && header[20] & 2 != 0
        case "png", "apng", "avif":
            // What cannot be read does not move.
            guard let beginning = try? FileHandle(forReadingFrom: file).read(upToCount: 1 << 14),
                let information = try? ImageInformation(ofPrefix: beginning)
            else { return false }
            return information.frameCount ?? 1 > 1
        default: return false
        }
    }

    private static let extensions: Set = [
        "png", "apng", "jpg", "jpeg", "gif", "webp", "avif", "heic", "heif", "jxl", "tif", "tiff",
        "svg", "bmp", "ico",
    ]
}
