import ArgumentParser
import Foundation

/// What the program is to do.
struct GalleryRequest: Sendable {
    /// Empty for the samples.
    let sources: [GallerySource]
    /// The page to begin with.
    let page: PageName
    /// The picture to take; `nil` stays open until the user closes the window.
    var screenshot: ScreenshotRequest?
}

/// A picture of the window.
struct ScreenshotRequest: Sendable {
    let file: URL
    /// After the window has appeared.
    let delay: Duration
}

/// Where pictures come from, as given on the command line.
enum GallerySource: Hashable, Sendable {
    case web(URL)
    case file(URL)
    case folder(URL)

    /// - Throws: `ValidationError`.
    init(_ text: String) throws {
        if let scheme = text.range(of: "://").map({ text[..<$0.lowerBound].lowercased() }) {
            guard scheme == "http" || scheme == "https" else {
                throw ValidationError("\(text): only http and https addresses are shown.")
            }
            guard let url = URL(string: text), url.host?.isEmpty == false else {
                throw ValidationError("\(text) is not a valid URL.")
            }
            self = .web(url)
            return
        }
        var isFolder: ObjCBool = false
        guard !text.isEmpty, FileManager.default.fileExists(atPath: text, isDirectory: &isFolder)
        else { throw ValidationError("There is no file or folder \"\(text)\".") }
        let url = URL(fileURLWithPath: text, isDirectory: isFolder.boolValue)
        self = isFolder.boolValue ? .folder(url) : .file(url)
    }
}
