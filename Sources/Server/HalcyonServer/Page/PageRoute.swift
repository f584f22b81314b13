/// The routes below the page's folder.
enum PageRoute: Sendable, Hashable {
    /// Redirects to the page.
    case start
    case page
    case style
    case script
    case sign
    case upload
    /// A picture of an upload; with the target that the path would have at the top level.
    case image(String)
    /// Information about an upload; with the target, likewise.
    case info(String)

    static let folder = "/playground/"

    /// - Parameter target: The target below the server's prefix, with its query.
    init?(target: String) {
        let path = target.prefix { $0 != "?" }
        guard path == "/" || path.hasPrefix("/playground") else { return nil }
        switch path {
        case "/", "/playground": self = .start
        case "/playground/": self = .page
        case "/playground/page.css": self = .style
        case "/playground/page.js": self = .script
        case "/playground/sign": self = .sign
        case "/playground/upload": self = .upload
        default:
            if path.hasPrefix("/playground/image/") {
                self = .image(String(target.dropFirst("/playground/image".count)))
            } else if path.hasPrefix("/playground/info/") {
                self = .info(String(target.dropFirst("/playground/info".count)))
            } else {
                return nil
            }
        }
    }

    var isPost: Bool { self == .sign || self == .upload }
}
