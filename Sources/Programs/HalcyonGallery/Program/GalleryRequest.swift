import ArgumentParser
import Foundation
import HalcyonWork

struct GalleryRequest: Sendable {
    /// The sources of pictures; empty for the samples.
    let sources: [GallerySource]
    /// The reasons why other sources cannot be shown.
    let problems: [String]
    let page: PageName
    /// The screenshot to take; `nil` keeps the window open until the user closes it.
    var screenshot: ScreenshotRequest?
}

struct ScreenshotRequest: Sendable {
    let file: URL
    /// The time after the window has appeared.
    let delay: Duration
}

/// A source of pictures, as given on the command line.
enum GallerySource: Hashable, Sendable {
    case web(URL)
    case file(FilePath)
    case folder(FilePath)

    /// - Throws: `ValidationError`.
    init(_ text: String) throws {
        if let scheme = text.range(of: "://").map({ text[..<$0.lowerBound].lowercased() }),
            scheme != "file"
        {
            guard scheme == "http" || scheme == "https" else {
                throw ValidationError("\(text): only http and https addresses are shown.")
            }
            guard let url = URL(string: text), url.host?.isEmpty == false else {
                throw ValidationError("\(text) is not a valid URL.")
            }
            self = .web(url)
            return
        }
        guard let path = Self.path(text), let status = try? path.status() else {
            let name = FilePath(argument: text)?.description ?? ""
            throw ValidationError("There is no file or folder \"\(name)\".")
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: self = .folder(path)
        case S_IFREG: self = .file(path)
        default:
            throw ValidationError("\(path.description) is neither a file nor a folder.")
        }
    }
    /// The path of a file URL, or the path itself.
    private static func path(_ text: String) -> FilePath? {
        guard text.lowercased().hasPrefix("file://") else { return FilePath(argument: text) }
        return URL(string: text).flatMap { FilePath($0) }
    }
}
