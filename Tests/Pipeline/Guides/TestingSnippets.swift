import Foundation
import Halcyon
import HalcyonTestKit
import HalcyonTesting

/// The code of the guide to testing, of what a file says and of events, and of the documentation of their
/// types.
enum TestingSnippets {
    static func comment() async throws -> PixelSize {
        // guide: TestEnvironment/first
        let environment = try TestEnvironment()
        let url = URL(string: "https://example.com/bird.png")!
        environment.transport.answer(url, with: try .image(.solid(.red, width: 8, height: 8)))

        let result = try await environment.manager.retrieveImage(with: url)
        print(result.image.pixelSize, environment.transport.requestCount(for: url))
        // end
        return result.image.pixelSize
    }

    static func transport(_ url: URL, _ png: Data) throws -> TestEnvironment {
        // guide: TestTransport/first
        let environment = try TestEnvironment()
        environment.transport.answer(url, with: .status(503), .data(png))
        // end
        return environment
    }

    static func information(_ data: Data) throws {
        // guide: ImageInformation/first
        let information = try ImageInformation(of: data)
        print(information.format, information.size, information.frameCount ?? 1)
        // end
    }

    @MainActor static func place(
        _ url: URL, _ makePlace: @escaping @MainActor @Sendable (PixelSize) -> Void
    ) -> KF.Builder {
        // guide: formats/size
        let builder = KF.url(url)
            .onSize { size in makePlace(size) }
        // end
        return builder
    }

    static func events(_ manager: KingfisherManager) async {
        // guide: EventHub/events
        for await event in manager.events {
            if case .succeeded(let cache) = event.kind { print(event.request, "came from", cache) }
        }
        // end
    }

    @MainActor static func watch(
        _ url: URL, _ view: HeadlessImageView,
        _ show: @escaping @MainActor @Sendable (String) -> Void
    ) {
        // guide: downloading/onEvent
        KF.url(url)
            .onEvent { event in
                if case .transferred(let byteCount, _) = event.kind { show("\(byteCount) bytes") }
            }
            .set(to: view)
        // end
    }

    static func slow(_ manager: KingfisherManager, report: @escaping @Sendable (String) -> Void) {
        // guide: downloading/events
        let listening = Task {
            for await event in manager.events {
                if case .made(_, _, let rendering) = event.kind, rendering > .milliseconds(100) {
                    report("\(event.source.cacheKey) took \(rendering) to decode")
                }
            }
        }
        // end
        listening.cancel()
    }
}
