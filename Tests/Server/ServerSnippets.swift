import Foundation
import HalcyonServer
import HalcyonTestKit
import InMemoryTracing
import Testing

/// The code in the documentation of types, each piece between two markers that name its file.
struct ServerSnippets {
    @Test func aConfigurationIsFilledIn() {
        // guide: ImageServerConfiguration/example
        var configuration = ImageServerConfiguration()
        configuration.sources.local.root = "/srv/pictures"
        configuration.signature.keys = ["943b421c9eb07c83"]
        configuration.signature.salts = ["520f986b998545b4"]
        // end
        #expect(configuration.sign("/plain/local:///a.jpg") != nil)
    }

    @Test func aServerIsMadeAndListens() async throws {
        let live = try await LiveServer.start()
        let root = live.server.configuration.sources.local.root
        let caches = live.server.configuration.cache.directory
        // guide: ImageServer/example
        var configuration = ImageServerConfiguration()
        configuration.sources.local.root = root
        configuration.cache.directory = caches
        configuration.signature.isRequired = false
        let server = try ImageServer(configuration: configuration)
        // end
        #expect(server.requestsUnderWay == 0)
    }

    @Test func aServerHasATracer() async throws {
        let configuration = try await LiveServer.start().server.configuration
        let tracer = InMemoryTracer()
        // guide: server/tracer
        let server = try ImageServer(configuration: configuration, tracer: tracer)
        // end
        #expect(server.requestsUnderWay == 0 && tracer.activeSpans.isEmpty)
    }

    @Test func anOriginIsMade() async throws {
        // guide: ImageOrigin/example
        struct Albums: ImageOrigin {
            let pictures: [String: Data]

            func fetch(_ request: OriginRequest) async throws -> OriginAnswer {
                pictures[request.url.path].map { .picture($0) } ?? .notFound
            }
        }
        // end
        let live = try await LiveServer.start(origins: ["album": Albums(pictures: [:])])
        #expect(try await live.ask("/_/plain/album:///a.png").status == 404)
    }

    @Test func aServerHasAnOrigin() async throws {
        let configuration = try await LiveServer.start().server.configuration
        let pictures = ["/2024/1.png": PNGFixture.solid(.red, width: 4, height: 4)]
        // guide: server/origins
        struct Albums: ImageOrigin {
            let pictures: [String: Data]

            func fetch(_ request: OriginRequest) async throws -> OriginAnswer {
                pictures[request.url.path].map { .picture($0) } ?? .notFound
            }
        }

        let server = try ImageServer(
            configuration: configuration, origins: ["album": Albums(pictures: pictures)])
        // end
        #expect(server.requestsUnderWay == 0)
    }

    @Test func aServerIsStopped() async throws {
        let server = try await LiveServer.start().server
        // guide: ListeningServer/example
        let listening = try await ListeningServer.start(server)
        print("listening on", listening.ports)
        await listening.stop()
        // end
        #expect(listening.ports.count == 1)
    }

    @Test func aProgramHasAServer() async throws {
        let configuration = try await LiveServer.start().server.configuration
        // guide: server/program
        let server = try ImageServer(configuration: configuration)
        let listening = try await ListeningServer.start(server)
        await listening.stop()
        // end
        #expect(server.requestsUnderWay == 0 && listening.ports.count == 1)
    }
}
