/// Keeps what a download brought until its image is in the cache.
///
/// Between the end of a download and that moment, a request that has found nothing in the cache would
/// find no running download either, and would load the same again. A request therefore declares its
/// interest before it looks into the cache. What a download brings is there for everybody as long as one
/// of those is at work who were interested when it ended; and for those who came meanwhile until they
/// are done. Whoever comes later finds the image in the cache.
///
/// A pure value; whoever holds it performs nothing but what it says.
struct SettledDownloads<URLKey: Hashable, Identity: Hashable, Value> {
    /// One request's interest in a URL.
    struct Interest: Hashable {
        let url: URLKey
        /// Counts interests.
        fileprivate let serial: Int
    }

    private struct Settled {
        let value: Value
        /// Interests up to here were there when the download ended.
        let first: Int
        /// Interests up to here came while one of these was at work; set when the last of them is done.
        var last: Int?
    }

    /// The interests in one URL. Of a thousand that begin at once and end one by one, finding the
    /// oldest takes no longer than of one.
    private struct Interests {
        /// In the order they came; before `first`, and in `ended`, are those that have ended.
        private var serials: [Int] = []
        private var first = 0
        private var ended: Set<Int> = []

        var oldest: Int? { first < serials.count ? serials[first] : nil }

        mutating func add(_ serial: Int) {
            serials.append(serial)
        }

        mutating func end(_ serial: Int) {
            ended.insert(serial)
            while let oldest, ended.remove(oldest) != nil { first += 1 }
            if first > 64, 2 * first > serials.count {
                serials.removeFirst(first)
                first = 0
            }
        }
    }

    private var serial = 0
    private var interests: [URLKey: Interests] = [:]
    private var settled: [URLKey: [Identity: Settled]] = [:]

    /// Whether nothing is kept and nobody is interested.
    var isEmpty: Bool { interests.isEmpty && settled.isEmpty }

    /// Declares interest in `url`; `end(_:)` has to follow.
    mutating func begin(_ url: URLKey) -> Interest {
        serial += 1
        interests[url, default: Interests()].add(serial)
        return Interest(url: url, serial: serial)
    }

    /// Takes an interest back.
    mutating func end(_ interest: Interest) {
        interests[interest.url]?.end(interest.serial)
        guard let oldest = interests[interest.url]?.oldest else {
            interests[interest.url] = nil
            settled[interest.url] = nil
            return
        }
        // Nothing else can have changed for those that wait.
        guard oldest > interest.serial else { return }
        settled[interest.url] = settled[interest.url]?.compactMapValues { settled in
            var settled = settled
            if settled.last == nil, oldest > settled.first { settled.last = serial }
            if let last = settled.last, oldest > last { return nil }
            return settled
        }
    }

    /// Keeps what a download brought, if anyone is interested in `url`.
    mutating func settle(_ value: Value, for identity: Identity, of url: URLKey) {
        guard interests[url] != nil else { return }
        settled[url, default: [:]][identity] = Settled(value: value, first: serial)
    }

    /// What a download brought that `interest` may share.
    func value(for identity: Identity, to interest: Interest) -> Value? {
        guard let found = settled[interest.url]?[identity],
            interest.serial <= found.last ?? .max
        else { return nil }
        return found.value
    }
}

extension SettledDownloads.Interest: Sendable where URLKey: Sendable {}
