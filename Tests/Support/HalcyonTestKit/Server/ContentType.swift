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
