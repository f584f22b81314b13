import Foundation

/// A directory tree that is served below a path.
struct ServedDirectory: Sendable {
    /// Ends with a slash.
    var prefix: String
    var root: URL

    init(prefix: String, root: URL) {
        self.prefix = prefix.hasSuffix("/") ? prefix : prefix + "/"
        self.root = root
    }

    /// The place of the file a decoded request path names, `nil` when it lies outside the tree.
    func file(for path: String) -> URL? {
        guard path.hasPrefix(prefix) else { return nil }
        let parts = path.dropFirst(prefix.count).split(separator: "/")
        guard !parts.isEmpty, !parts.contains(".."), !path.contains("\0") else { return nil }
        return root.appendingPathComponent(parts.joined(separator: "/"))
    }

    /// What is answered for `path`; opens the file, which blocks.
    func response(for path: String) -> OriginResponse {
        guard let url = file(for: path)?.resolvingSymlinksInPath(),
            // A symbolic link in the tree may point out of it.
            url.path.hasPrefix(root.resolvingSymlinksInPath().path + "/"),
            let file = OpenFile(path: url.path)
        else { return .status(404) }
        let tag = String(Int(file.modified.timeIntervalSince1970), radix: 16)
        return OriginResponse(
            headers: ["Content-Type": ContentType.of(fileExtension: url.pathExtension)],
            body: .file(file),
            behaviours: [
                .entityTag("\"\(tag)-\(String(file.size, radix: 16))\""),
                .lastModified(file.modified), .ranges,
            ])
    }
}

/// Media types by file name.
enum ContentType {
    private static let byExtension = [
        "png": "image/png", "apng": "image/apng", "jpg": "image/jpeg", "jpeg": "image/jpeg",
        "gif": "image/gif", "webp": "image/webp", "avif": "image/avif", "heic": "image/heic",
        "heif": "image/heif", "jxl": "image/jxl", "jp2": "image/jp2", "tif": "image/tiff",
        "tiff": "image/tiff", "bmp": "image/bmp", "ico": "image/vnd.microsoft.icon",
        "svg": "image/svg+xml", "pdf": "application/pdf", "html": "text/html; charset=utf-8",
        "txt": "text/plain; charset=utf-8", "css": "text/css", "js": "text/javascript",
        "json": "application/json", "mp4": "video/mp4", "webm": "video/webm",
    ]

    static func of(fileExtension: String) -> String {
        byExtension[fileExtension.lowercased()] ?? "application/octet-stream"
    }
}
