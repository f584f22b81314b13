/// The kinds of requests that a server answers.
public struct ServerRoutes: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Pictures, by their URLs.
    public static let processing = ServerRoutes(rawValue: 1)
    /// Information about sources.
    public static let info = ServerRoutes(rawValue: 2)
    /// The IIIF Image API, where it is enabled.
    public static let iiif = ServerRoutes(rawValue: 4)
    /// `/live`, `/ready` and `/health`.
    public static let health = ServerRoutes(rawValue: 8)

    /// The endpoints of `ops.bind`: `/metrics`, `/purge`, `/warm` and `/cache`, for requests
    /// that carry `ops.token`. Without a token they are closed, since every client of the
    /// application would reach them.
    public static let operations = ServerRoutes(rawValue: 32)

    /// The page for trying things out, where it is enabled: never in an embedding application,
    /// which alone knows its users.
    static let page = ServerRoutes(rawValue: 16)

    public static let all: ServerRoutes = [.processing, .info, .iiif, .health]
}
