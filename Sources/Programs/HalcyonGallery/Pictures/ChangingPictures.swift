import Foundation
import HalcyonSamples

/// Pictures of which the server on this machine says in different ways how long they are good for. They
/// can be changed, and the server cut off.
@MainActor final class ChangingPictures {
    /// What the server says of a picture.
    struct Rule: Sendable {
        let title: String
        let cacheControl: String
        /// Else `Last-Modified` tells one picture from the next.
        var hasEntityTag = true
    }

    static let rules = [
        Rule(title: "Fresh for ten seconds", cacheControl: "max-age=10"),
        Rule(
            title: "Shown stale, then asked for",
            cacheControl: "max-age=1, stale-while-revalidate=600"),
        Rule(title: "Asked for each time", cacheControl: "no-cache"),
        Rule(
            title: "Stale rather than an error", cacheControl: "max-age=1, stale-if-error=600",
            hasEntityTag: false),
        Rule(title: "An error rather than stale", cacheControl: "max-age=1, must-revalidate"),
        Rule(title: "Not kept", cacheControl: "no-store"),
    ]

    /// Whether the server answers; while it does not, connections are reset.
    var isReachable = true { didSet { serve() } }
    /// Counts the changes.
    private(set) var version = 1
    private let origin: SampleServer
    /// What is shown in turn.
    private let pictures: [Data]

    private static let names = [
        "china.jpg", "flower.jpg", "chelsea.png", "coffee.webp", "rocket.jpg", "retina.jpg",
        "hubble_deep_field.jpg",
    ]

    init(on origin: SampleServer, samples: SamplePictures) {
        self.origin = origin
        // Without the samples nothing is at these addresses, which the page tells of each.
        pictures = Self.names.compactMap { try? samples.data($0) }
        serve()
    }

    /// The address of the picture of a rule, which stays whatever is there.
    func url(_ index: Int) -> URL { origin.url(Self.path(index)) }

    /// Puts another picture at each address.
    func change() {
        version += 1
        serve()
    }

    private static func path(_ index: Int) -> String { "/freshness/\(index)" }

    private func serve() {
        guard !pictures.isEmpty else { return }
        for (index, rule) in Self.rules.enumerated() {
            let picture = pictures[(index + version) % pictures.count]
            let answer = SampleAnswer(picture, end: isReachable ? .complete : .reset)
                .field("Cache-Control", rule.cacheControl)
            let changed = Date(timeIntervalSince1970: 1_700_000_000 + Double(version))
            origin.route(
                Self.path(index),
                rule.hasEntityTag
                    ? answer.field("ETag", "\"v\(version)\"")
                    : answer.field("Last-Modified", Self.httpDate(changed)))
        }
    }

    private static func httpDate(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: date)
    }
}
