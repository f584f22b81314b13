import Foundation
import Synchronization

/// URLs of one file, none of which was handed out before.
final class FreshURLs: Sendable {
    private let origin: Origin
    private let file: String
    private let number = Atomic(0)

    init(origin: Origin, file: String) {
        self.origin = origin
        self.file = file
    }

    func next() -> URL {
        origin.url(file, number.add(1, ordering: .relaxed).newValue)
    }

    func next(_ count: Int) -> [URL] {
        (0..<count).map { _ in next() }
    }

    /// The same as a pattern of curl's.
    func nextPattern(_ count: Int) -> String {
        let end = number.add(count, ordering: .relaxed).newValue
        return "\(origin.baseURL)/\(file)/[\(end - count + 1)-\(end)]"
    }
}
