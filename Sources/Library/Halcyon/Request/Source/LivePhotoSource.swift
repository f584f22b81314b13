public import Foundation

/// The source of a live photo's files: a still image and a short film.
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

/// One file of a live photo.
public struct LivePhotoResource: Sendable {
    /// The source of the file.
    public let dataSource: Source
    /// The declared type of the file.
    public let referenceFileType: FileType

    /// Creates a resource. Without `cacheKey` the key is the URL's own; without `fileType` the type
    /// is guessed from the path extension.
    public init(downloadURL: URL, cacheKey: String? = nil, fileType: FileType? = nil) {
        self.init(
            resource: KF.ImageResource(downloadURL: downloadURL, cacheKey: cacheKey),
            fileType: fileType)
    }

    /// Without `fileType` the type is guessed from the URL's path extension. A file URL is read as a
    /// file.
    public init(resource: any Resource, fileType: FileType? = nil) {
        self.init(source: resource.convertToSource(), fileType: fileType)
    }

    /// Without `fileType` the type is guessed from the path extension of the source's URL; without a
    /// URL it is decided by the bytes.
    public init(source: Source, fileType: FileType? = nil) {
        dataSource = source
        referenceFileType = fileType ?? FileType(pathExtension: source.url?.pathExtension ?? "")
    }

    /// The identifier under which the files are cached, apart from images with the same key.
    static let processorIdentifier = "com.onevcat.Kingfisher.LivePhotoImageProcessor"
}

extension LivePhotoResource {
    /// The type of a live photo's file.
    public enum FileType: Sendable, Equatable {
        /// The still image.
        case heic
        /// The film.
        case mov
        /// Anything else, by its file extension. Without one, the bytes decide.
        case other(String)

        /// The type of files with this extension, in upper or lower case.
        init(pathExtension: String) {
            switch pathExtension.lowercased() {
            case "heic": self = .heic
            case "mov": self = .mov
            case let other: self = .other(other)
            }
        }

        /// The file extension; empty when it is not known.
        public var fileExtension: String {
            switch self {
            case .heic: "heic"
            case .mov: "mov"
            case .other(let ext): ext
            }
        }

        /// The extension under which `data` is cached; `nil` for none. The bytes are only asked when
        /// the type says nothing.
        func determinedFileExtension(_ data: Data) -> String? {
            fileExtension.isEmpty ? Self.sniffed(data)?.fileExtension : fileExtension
        }

        /// The extensions under which a file of this type may be cached, likely ones first.
        var possibleFileExtensions: [String?] {
            fileExtension.isEmpty ? ["heic", "mov", nil] : [fileExtension]
        }

        /// The type by the brand of an ISO media file (ISO/IEC 14496-12, 4.3).
        private static func sniffed(_ data: Data) -> FileType? {
            let head = Array(data.prefix(12))
            guard head.count == 12, head[4..<8].elementsEqual("ftyp".utf8) else { return nil }
            if head[8..<12].elementsEqual("heic".utf8) { return .heic }
            if head[8..<12].elementsEqual("qt  ".utf8) { return .mov }
            return nil
        }
    }
}
