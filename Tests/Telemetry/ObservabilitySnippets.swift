import HalcyonTelemetry
import HalcyonTestKit
import InMemoryTracing
import Testing
import Tracing

@testable import Halcyon

/// The code in the guide and in the documentation of types, each piece between two markers.
@Suite struct ObservabilitySnippets {
    @Test func anObservationRunsBesideTheProgram() async throws {
        let manager = try await ObservedManager().manager
        // guide: observability/run
        let observation = ImageObservation(of: manager)
        let observing = Task { await observation.run() }
        // end
        #expect(manager.eventHub.isObserved)
        observing.cancel()
        await observing.value
    }

    @Test func oneHalfIsLeftOut() async throws {
        let observed = try await ObservedManager()
        let (manager, tracer) = (observed.manager, observed.tracer)
        // guide: observability/half
        let spansOnly = ImageObservation(of: manager, metrics: nil, tracer: tracer)
        // end
        let observing = Task { await spansOnly.run() }
        try await observed.retrieve()
        observing.cancel()
        await observing.value
        #expect(observed.roots.count == 1)
    }

    @Test func aPageIsTheTraceOfItsPictures() async throws {
        let observed = try await ObservedManager()
        let (manager, tracer) = (observed.manager, observed.tracer)
        let (photoURL, portraitURL) = (observed.url, observed.origin.url("/photo.png?portrait"))
        try await observed.observe {
            // guide: observability/parent
            try await tracer.withSpan("page") { _ in
                async let photo = manager.retrieveImage(with: photoURL)
                async let portrait = manager.retrieveImage(with: portraitURL)
                _ = try await (photo, portrait)
            }
            // end
        }
        let page = try #require(observed.roots.first)
        #expect(page.operationName == "page" && observed.roots.count == 1)
        #expect(
            observed.children(of: page).map(\.operationName) == ["halcyon.image", "halcyon.image"])
    }

    @Test func theSharedManagerIsObserved() async {
        // guide: ImageObservation/example
        let observation = ImageObservation(of: .shared)
        let observing = Task { await observation.run() }
        // end
        #expect(KingfisherManager.shared.eventHub.isObserved)
        observing.cancel()
        await observing.value
    }
}
