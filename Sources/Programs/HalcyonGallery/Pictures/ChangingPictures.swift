import Foundation
import HalcyonSamples

/// Pictures with different `Cache-Control` fields, whose server can be made unreachable.
@MainActor final class ChangingPictures {
    struct Rule: Sendable {
        let title: String
        let cacheControl: String
        /// Whether the validator is an `ETag`; otherwise it is `Last-Modified`.
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

    /// Whether the server answers; otherwise it resets connections.
    var isReachable = true { didSet { serve() } }
    private(set) var version = 1
    private let origin: SampleServer
    private let pictures: [Data]

    private static let names = [
        "china.jpg", "flower.jpg", "chelsea.png", "coffee.webp", "rocket.jpg", "retina.jpg",
        "hubble_deep_field.jpg",
    ]

    init(on origin: SampleServer, samples: SamplePictures) {
        self.origin = origin
        // Without the samples these URLs are not found, as the page shows for each.
        pictures = Self.names.compactMap { try? samples.data($0) }
        serve()
    }

    /// The URL of a rule's picture, the same for all versions.
    func url(_ index: Int) -> URL { origin.url(Self.path(index)) }

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
