import Foundation
import HalcyonHTTP
@testable import HalcyonServer
import HalcyonWork
import Testing

/// What is kept of sources while several look for them.
@Suite struct KnownSourceTests {
    private let url = URL(string: "http://example.com/a.png")!
    private let known = KnownSources(
        ImageServerConfiguration().cache, in: nil, time: .system, onForgetting: { _ in })

    /// A source as it was heard of at a time.
    private func source(generation: Int64?, at second: Double) -> RemoteSource {
        let date = Date(timeIntervalSince1970: 1_700_000_000 + second)
        let stored = StoredResponse(
            url: url, status: 200, fields: [:], requested: date, received: date)
        return RemoteSource(
            SharedHead(stored, length: 1), key: "key", sharedGeneration: generation)
    }

    private func fetch() -> SourceFetch {
        let fetch = SourceFetch(url, "key", limit: 1, asker: SourceAsker())
        known.begin(fetch)
        return fetch
    }

    /// Also where Redis could not be asked for a generation of the newer one.
    @Test(arguments: [Int64?(2), nil])
    func aLookThatTookLongDoesNotBringBackWhatOthersHadBeforeAPurge(generation: Int64?) {
        let (look, later) = (fetch(), fetch())
        let newer = source(generation: generation, at: 2)
        #expect(known.remember(newer, of: later))
        #expect(!known.remember(source(generation: 1, at: 1), of: look))
        #expect(known.inMemory("key") === newer)
    }

    @Test(arguments: [(Int64?(1), 3.0), (Int64?(3), 1.0), (Int64?.none, 1.0)])
    func aClockThatWasSetBackKeepsNothingNewAway(generation: Int64?, second: Double) {
        #expect(known.remember(source(generation: 2, at: 2), of: fetch()))
        let newer = source(generation: generation, at: second)
        #expect(known.remember(newer, of: fetch()))
        #expect(known.inMemory("key") === newer)
    }

    @Test func whatIsForgottenMeanwhileIsNotKept() async {
        let look = fetch()
        _ = await known.forget("key")
        #expect(!known.remember(source(generation: 1, at: 1), of: look))
        #expect(known.inMemory("key") == nil)
    }
}
