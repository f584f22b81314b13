import Foundation
import HalcyonPixels
@testable import HalcyonServer
import HalcyonServerURLs
import HalcyonTestKit
import Testing

/// AVIF is written as well as there is time for, and something else where there is not.
@Suite struct AVIFPaceTests {
    @Test func effortGoesDownWithTheTimeThatIsLeft() {
        let pace = AVIFPace()
        let pixels = 4_000_000
        let efforts = [100.0, 10, 3, 2, 1, 0.6, 0.5, 0, -1].map {
            pace.effort(upTo: 6, pixels: pixels, in: .seconds($0))
        }
        #expect(efforts == [6, 5, 3, 2, 1, 0, nil, nil, nil])
        // More is never taken than is wanted.
        #expect(pace.effort(upTo: 1, pixels: pixels, in: .seconds(100)) == 1)
    }

    @Test func theEstimateFollowsTheMachine() {
        var pace = AVIFPace()
        let before = pace.duration(pixels: 1_000_000, effort: 1)
        // Ten times as slow as it was thought to be.
        for _ in 0..<40 { pace.note(before * 10, pixels: 1_000_000, effort: 1) }
        let ratio = pace.duration(pixels: 1_000_000, effort: 1) / before
        #expect((9...10.1).contains(ratio))
        #expect(pace.effort(upTo: 1, pixels: 1_000_000, in: before * 5) == nil)
        for _ in 0..<40 { pace.note(before, pixels: 1_000_000, effort: 1) }
        #expect(pace.effort(upTo: 1, pixels: 1_000_000, in: before * 1.2) == 1)
    }

    @Test func smallPicturesTellLittleOfLargeOnes() {
        var pace = AVIFPace()
        let before = pace.duration(pixels: 10_000_000, effort: 1)
        pace.note(.milliseconds(40), pixels: 256, effort: 1)
        #expect(pace.duration(pixels: 10_000_000, effort: 1) < before * 1.1)
    }

    @Test func aBadMomentIsForgotten() {
        var pace = AVIFPace()
        let left = pace.duration(pixels: 1_000_000, effort: 0) * 2
        pace.note(.seconds(1000), pixels: 1_000_000, effort: 0)
        var tries = 0
        while pace.effort(upTo: 0, pixels: 1_000_000, in: left) == nil, tries < 100 {
            pace.noteAvoidance()
            tries += 1
        }
        #expect((10..<100).contains(tries))
    }

    // MARK: In pictures

    private func run(
        _ format: OutputFormat?, _ accepted: AcceptedFormats, left: Duration
    ) throws -> PlanExecution.Product {
        var options = ProcessingOptions()
        options.width = 100
        options.format = format
        let work = PlanExecution(
            options: options, accepted: accepted, rules: PictureRules(ImageServerConfiguration()))
        return try work.run(try LiveServer.sample("china.jpg"), by: .now + left, isWanted: { true })
    }

    @Test func withoutTimeTheFormatIsTheNextThatTheClientTakes() throws {
        let both = AcceptedFormats(still: .avif, animated: .webp, small: .webp)
        #expect(try run(nil, both, left: .seconds(600)).format == .AVIF)
        let hurried = try run(nil, both, left: .zero)
        #expect(hurried.format == .WebP && hurried.isSubstitute)
        let one = AcceptedFormats(still: .avif, animated: nil, small: nil)
        #expect(try run(nil, one, left: .zero).format == .JPEG)
        // A URL that names a format means it.
        let named = try run(.avif, AcceptedFormats(), left: .zero)
        #expect(named.format == .AVIF && !named.isSubstitute)
    }

    @Test func whatStandsInForAVIFIsNotTakenForIt() async throws {
        let live = try await LiveServer.start {
            $0.negotiation.formats = ["avif", "webp"]
            $0.http.ttl = .seconds(10_000)
        }
        let target = "/_/w:100/plain/local:///china.jpg"
        let fields = ["Accept": "image/avif,image/webp"]
        let pace = live.server.router.processing.rules.pace
        // As if one picture had taken a week.
        pace.note(.seconds(600_000), pixels: 1, effort: 0)
        for _ in 0..<2 {
            let answer = try await live.ask(target, fields: fields)
            #expect(answer["Content-Type"] == "image/webp")
            let kept = ["public, max-age=60", "public, max-age=59"]
            #expect(kept.contains(answer["Cache-Control"] ?? ""))
            #expect(answer["ETag"] == nil && answer["Last-Modified"] == nil)
            #expect(answer["Vary"] == "Accept")
            #expect(answer["Cache-Status"]?.contains("stored") == false)
        }
        for _ in 0..<200 { pace.note(.milliseconds(1), pixels: 1, effort: 0) }
        let answer = try await live.ask(target, fields: fields)
        #expect(answer["Content-Type"] == "image/avif")
        #expect(answer["ETag"] != nil && answer["Cache-Control"] == "public, max-age=10000")
    }
}
