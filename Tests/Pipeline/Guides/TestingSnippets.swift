import Foundation
import Halcyon
import HalcyonTestKit
import HalcyonTesting

/// The code of the guide to testing, of what a file says and of events, and of the documentation of their
/// types.
enum TestingSnippets {
    static func environment() async throws -> (PixelSize, Int) {
        // guide: testing/environment
        let environment = try TestEnvironment()
        let url = URL(string: "https://example.com/bird.png")!
        let bird = Image.drawn(width: 8, height: 6) { x, _ in x < 4 ? .blue : .white }
        environment.transport.answer(url, with: try .image(bird))

        let result = try await environment.manager.retrieveImage(with: url)
        print(result.image.pixelSize, environment.transport.requestCount(for: url))
        // end
        return (result.image.pixelSize, environment.transport.requestCount(for: url))
    }

    static func failures(_ environment: TestEnvironment, _ url: URL) async throws -> Image {
        // guide: testing/failures
        environment.transport.answer(
            url, with: .status(503),
            .failure(.connectionReset(url: url.absoluteString, reason: "test")),
            try .image(.solid(.red, width: 2, height: 2)))
        let retry = DelayRetryStrategy(maxRetryCount: 2, retryInterval: .seconds(0))
        let result = try await environment.manager.retrieveImage(
            with: url, options: [.retryStrategy(retry)])
        // end
        return result.image
    }

    static func time(
        _ environment: TestEnvironment, _ url: URL, _ picture: Image
    ) async throws -> Image {
        // guide: testing/time
        environment.transport.answer(url, with: try .image(picture).delayed(by: .seconds(3)))
        async let loading = environment.manager.retrieveImage(with: url)
        await environment.clock.waitForSleepers()
        // What is to be seen meanwhile is looked at here.
        environment.clock.advance(by: .seconds(3))
        let image = try await loading.image
        // end
        return image
    }

    static func comment() async throws {
        // guide: TestEnvironment/first
        let environment = try TestEnvironment()
        let url = URL(string: "https://example.com/bird.png")!
        environment.transport.answer(url, with: try .image(.solid(.red, width: 8, height: 8)))

        let result = try await environment.manager.retrieveImage(with: url)
        print(result.image.pixelSize, environment.transport.requestCount(for: url))
        // end
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

    static func size(of data: Data) throws -> PixelSize {
        // guide: formats/information
        let information = try ImageInformation(of: data)
        print(information.format, information.size, information.frameCount ?? 1)
        if let quality = information.jpegQuality { print("about quality", quality) }
        // end
        return information.size
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
