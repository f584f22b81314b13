import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Requests that have begun before a download ended, and ask after that.
@Suite struct LatecomerTests {
    /// An answer, and what it is asked for with.
    struct Answer: Sendable, CustomTestStringConvertible {
        let caching: HTTPCaching
        let fields: [String: String]
        var request: [String: String] = [:]
        /// Whether it may be given to others.
        var isForOthers = false

        var testDescription: String { "\(fields) \(request) \(caching.role)" }
    }

    static let answers = [
        Answer(caching: .on, fields: ["Cache-Control": "no-store"]),
        Answer(caching: .on, fields: ["Cache-Control": "max-age=60", "Vary": "*"]),
        Answer(caching: .shared, fields: ["Cache-Control": "private, max-age=60"]),
        Answer(
            caching: .shared, fields: ["Cache-Control": "max-age=60"],
            request: ["Authorization": "Bearer a"]),
        Answer(
            caching: .shared, fields: ["Cache-Control": "public, max-age=60"],
            request: ["Authorization": "Bearer a"], isForOthers: true),
        Answer(caching: .on, fields: ["Cache-Control": "private, max-age=60"], isForOthers: true),
    ]

    /// Sets fields, and lets the request wait until the gate is open.
    private struct Held: AsyncImageDownloadRequestModifier {
        let gate: Gate?
        let fields: [String: String]

        func modified(for request: URLRequest) async -> URLRequest? {
            try? await gate?.wait()
            var request = request
            for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
            return request
        }

        var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? { nil }
    }

    @Test(arguments: answers)
    func anAnswerThatIsNotForOthersIsNotGivenToWhoAsksLater(_ answer: Answer) async throws {
        let fixture = try await FreshnessFixture(answer.caching)
        var response = OriginResponse.png(FreshnessFixture.png(3))
        for (name, value) in answer.fields { response = response.header(name, value) }
        fixture.origin.route("/a.png", response)
        let gate = Gate()
        // Neither is found in the cache, so that only the download itself could be shared.
        let options: KingfisherOptionsInfo = [
            .memoryCacheExpiration(.expired), .diskCacheExpiration(.expired),
        ]
        func got(_ gate: Gate?) async throws -> String {
            try await fixture.got(
                options + [.requestModifier(Held(gate: gate, fields: answer.request))])
        }
        async let late = got(gate)
        await gate.waitForWaiters(1)
        #expect(try await got(nil).hasPrefix("3 fetched"))
        gate.open()
        #expect(try await late.hasPrefix("3 fetched"))
        #expect(fixture.count == (answer.isForOthers ? 1 : 2))
    }
}
