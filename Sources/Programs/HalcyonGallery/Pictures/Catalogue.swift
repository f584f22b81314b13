import Foundation
import Halcyon
import HalcyonSamples
import HalcyonWork

struct Picture: Hashable, Sendable {
    let title: String
    let url: URL
    /// Whether the picture is animated, as far as that is known.
    var isAnimated = false
    var file: FilePath?

    /// The source to load; `copy` makes it another image for caches and downloads.
    func source(copy: Int = 0) -> Source {
        guard copy > 0, var parts = URLComponents(url: url, resolvingAgainstBaseURL: false),
            !url.isFileURL
        else { return url.convertToSource() }
        parts.queryItems = (parts.queryItems ?? []) + [URLQueryItem(name: "copy", value: "\(copy)")]
        return (parts.url ?? url).convertToSource()
    }
}

/// Finds the pictures to show and gives each a URL.
///
/// Files are served over HTTP on this machine, so that they load like pictures of a web site.
struct Catalogue {
    private(set) var pictures: [Picture] = []
    private(set) var slow: [Picture] = []
    /// Files and folders that cannot be read.
    private(set) var failures: [FilePath.Failure] = []

    /// The samples that look best, which come first.
    private static let favourites = [
        "china.jpg", "flower.jpg", "chelsea.png", "coffee.webp", "rocket.jpg",
        "astronaut-progressive.jpg", "hubble-detail.avif", "retina.jpg", "kingfisher.svg",
        "hubble_deep_field.jpg", "kingfisher.gif", "kingfisher.avif", "kingfisher.png",
    ]
    private static let slowCount = 8
    /// The part of URLs' paths that is for all pictures given at once.
    private let root: String
    private static let mostSlowBytes = 8 << 20
    private static let slowness = Duration.seconds(4)
    private static let pieces = 40

    /// - Parameters:
    ///   - sources: None for the samples.
    ///   - known: Pictures that are shown already, which are left out.
    ///   - number: Counts the catalogues of one server from 0.
    init(
        _ sources: [GallerySource], samples: SamplePictures, origin: SampleServer,
        known: [Picture] = [], number: Int = 0
    ) {
        root = "/pictures/\(number)"
        let sampleFiles = Self.ordered(samples.names).compactMap {
            FilePath(samples.directory.appendingPathComponent($0))
        }
        var files: [FilePath] = []
        for source in sources {
            switch source {
            case .web(let url):
                pictures.append(
                    Picture(
                        title: url.lastPathComponent, url: url,
                        isAnimated: url.pathExtension.lowercased() == "gif"))
            case .file(let file): files.append(file)
            case .folder(let folder): files += images(in: folder)
            }
        }
        files = sources.isEmpty ? sampleFiles : Self.sorted(files)
        var shown = Set(known.map(\.url) + known.compactMap(\.file?.url))
        pictures = pictures.filter { shown.insert($0.url).inserted }
        var folders: [URL: String] = [:]
        for file in files where shown.insert(file.url).inserted && read(file, atMost: 1) != nil {
            var url = file.url
            // A name that is not valid text has no URL on the server.
            if file.text != nil {
                let folder = url.deletingLastPathComponent()
                let path = folders[folder] ?? "\(root)-\(folders.count)"
                if folders.updateValue(path, forKey: folder) == nil {
                    origin.serve(folder, under: path)
                }
                url = origin.url(path).appendingPathComponent(url.lastPathComponent)
            }
            pictures.append(
                Picture(title: file.name, url: url, isAnimated: Self.isAnimated(file), file: file))
        }
        guard number == 0 else { return }
        let first = pictures.compactMap(\.file).filter { file in
            // One that has gone meanwhile is left out.
            (try? file.status().st_size).map { $0 <= Self.mostSlowBytes } ?? false
        }
        for file in (first.isEmpty ? sampleFiles : first).prefix(Self.slowCount) {
            addSlow(file, origin)
        }
    }

    private mutating func addSlow(_ file: FilePath, _ origin: SampleServer) {
        guard let data = read(file) else { return }
        let url = origin.url("/slow/\(slow.count).\(file.fileExtension)")
        let answer = SampleAnswer(
            data, pieces: max(1, data.count / Self.pieces), pause: Self.slowness / Self.pieces)
        origin.route(url.path, answer)
        slow.append(Picture(title: file.name, url: url, file: file))
    }

    private mutating func read(_ file: FilePath, atMost limit: Int = .max) -> Data? {
        do {
            return try file.read(atMost: limit)
        } catch {
            failures.append(error)
            return nil
        }
    }

    private static func ordered(_ names: [String]) -> [String] {
        favourites.filter(names.contains) + names.filter { !favourites.contains($0) }
    }

    /// As people sort: "2" before "10", folder by folder, and each file once.
    static func sorted(_ files: [FilePath]) -> [FilePath] {
        func precedes(_ left: FilePath, _ right: FilePath) -> Bool {
            for (a, b) in [(left.folder, right.folder), (left, right)] {
                let order = a.description.compare(
                    b.description, options: [.caseInsensitive, .numeric])
                if order != .orderedSame { return order == .orderedAscending }
            }
            return left.bytes.lexicographicallyPrecedes(right.bytes)
        }
        return Set(files).sorted(by: precedes)
    }

    /// Returns the images in `folder` and below.
    private mutating func images(in folder: FilePath) -> [FilePath] {
        let listing = FolderListing(below: folder, includesLinks: true)
        failures += listing.failures
        return listing.files.filter { Self.extensions.contains($0.fileExtension.lowercased()) }
    }

    /// Whether a file is a GIF, or its header declares an animation.
    private static func isAnimated(_ file: FilePath) -> Bool {
        switch file.fileExtension.lowercased() {
        case "gif": return true
        case "webp":
            // The extended header has flags in byte 20, of which the second one is "animation".
            guard let header = try? file.read(atMost: 21), header.count == 21 else { return false }
            return header[12..<16] == Data("VP8X".utf8) && header[20] & 2 != 0
        case "png", "apng", "avif":
            // An unreadable file counts as not animated.
            guard let beginning = try? file.read(atMost: 1 << 14),
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
