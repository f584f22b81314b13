import Foundation
import Halcyon
import HalcyonHTTP
import HalcyonPixels
import HalcyonSamples
import HalcyonTestKit
import HalcyonWork
import Hummingbird
import ServiceLifecycle
import Testing

@testable import HalcyonExamples
@testable import HalcyonServer

/// The server's routes in an application of somebody else.
@Suite struct EmbeddingTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func images(
        _ change: (inout ImageServerConfiguration) -> Void = { _ in }
    ) throws -> ImageServer {
        var configuration = ImageServerConfiguration()
        configuration.sources.local.root = try SamplePictures().directory.path
        configuration.cache.directory = folder.url.path
        configuration.signature.isRequired = false
        // For a busy machine.
        configuration.work.requestTimeout = .seconds(60)
        change(&configuration)
        return try ImageServer(configuration: configuration)
    }

    /// Somebody who asks the application.
    private struct Visitor {
        let port: Int

        func head(
            _ target: String, method: String = "GET", _ fields: String...
        ) async throws -> String {
            try await RawClient(port: port).exchange(
                target, method: method, headers: ["Connection: close"] + fields
            ).head
        }

        func get(_ target: String) async throws -> (head: String, body: Data) {
            let answer = try await RawClient(port: port).exchange(
                target, headers: ["Connection: close"])
            return (answer.head, Data(answer.body))
        }

        func post(_ target: String, _ body: Data) async throws -> (head: String, body: Data) {
            let answer = try await RawClient(port: port).exchange(
                target, method: "POST", headers: ["Connection: close"], sending: body)
            return (answer.head, Data(answer.body))
        }
    }

    private static let upload = PNGFixture.data(.gradient(width: 640, height: 480))

    @Test func anUploadIsAnsweredWithItsThumbnail() async throws {
        let router = Router()
        addThumbnails(to: router)
        try await running(router, try images()) { visitor in
            for (query, width, height) in [
                ("", 400, 300), ("?size=64", 64, 48), ("?size=-1", 1, 1),
            ] {
                let answer = try await visitor.post("/thumbnail\(query)", Self.upload)
                #expect(answer.head.hasPrefix("HTTP/1.1 200 OK\r\n"))
                #expect(answer.body.kf.imageFormat == .WebP)
                let size = PixelSize(width: width, height: height)
                #expect(Image(data: answer.body)?.pixelSize == size)
            }
            let refused = try await visitor.post("/thumbnail", Data("no picture".utf8))
            #expect(refused.head.hasPrefix("HTTP/1.1 422"))
        }
    }

    @Test func thumbnailsOfKeptUploadsAreMadeByTheServer() async throws {
        let server = try UploadServer(
            folder: folder.url.appendingPathComponent("uploads"),
            configuration: try images().configuration)
        let router = Router()
        server.addRoutes(to: router)
        try await running(router, server.images) { visitor in
            let refused = try await visitor.post("/pictures", Data("no picture".utf8))
            #expect(refused.head.hasPrefix("HTTP/1.1 422"))
            let kept = try await visitor.post("/pictures", Self.upload)
            #expect(kept.head.hasPrefix("HTTP/1.1 201"))
            let field = kept.head.components(separatedBy: "\r\n").first {
                $0.lowercased().hasPrefix("location: ")
            }
            let path = try #require(field).dropFirst("location: ".count)
            for _ in 0..<2 {
                let answer = try await visitor.get("\(path)?size=64")
                #expect(answer.head.lowercased().contains("max-age=31536000"))
                #expect(Image(data: answer.body)?.pixelSize == PixelSize(width: 64, height: 48))
            }
            let unknown = try await visitor.get("/pictures/\(UUID().uuidString)")
            #expect(unknown.head.hasPrefix("HTTP/1.1 404"))
            #expect(try await visitor.get("/pictures/china.jpg").head.hasPrefix("HTTP/1.1 400"))
        }
    }

    /// Runs an application with the router for as long as `body` runs.
    private func running(
        _ router: Router<BasicRequestContext>, _ images: ImageServer,
        _ body: (Visitor) async throws -> Void
    ) async throws {
        let port = OneShot<Int>()
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            services: [images],
            onServerRunning: { port.give($0.localAddress?.port ?? 0) })
        let group = ServiceGroup(
            configuration: .init(services: [application], logger: application.logger))
        async let end: Void = group.run()
        try await body(Visitor(port: await port.value))
        await group.triggerGracefulShutdown()
        try await end
    }

    @Test(arguments: [false, true])
    func theRoutesAreBelowAPathOfTheApplication(stopsWork: Bool) async throws {
        let images = try images { $0.serveIIIF() }
        let router = Router()
        router.get("hello") { _, _ in "hello" }
        let group = router.group("api")
        images.addRoutes(
            to: group, at: "pictures/v1", routes: [.processing, .info, .health],
            stopsWorkForLostClients: stopsWork)
        try await running(router, images) { visitor in
            let base = "/api/pictures/v1"
            for _ in 0..<2 {
                let head = try await visitor.head("\(base)/_/w:30/plain/local:///china.jpg@png")
                #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
                #expect(head.lowercased().contains("content-type: image/png"))
            }
            let post = try await visitor.head("\(base)/_/plain/local:///china.jpg", method: "POST")
            #expect(post.hasPrefix("HTTP/1.1 405"))
            // Once the codecs are loaded.
            await images.state.wait(until: .ready)
            for (path, status) in [
                ("\(base)/ready", "200"), ("\(base)//_//plain/local:///china.jpg", "404"),
                ("\(base)/info/_/s:1/plain/local:///china.jpg", "200"),
                ("\(base)/iiif/3/china/info.json", "404"), ("/hello", "200"),
            ] { #expect(try await visitor.head(path).hasPrefix("HTTP/1.1 \(status)"), "\(path)") }
        }
    }

    @Test func operationsBelowAPathOfTheApplicationNeedTheToken() async throws {
        for token in [nil, "secret-of-operators"] {
            let images = try images { $0.operationsToken = token }
            let router = Router()
            images.addRoutes(to: router, at: "images", routes: [.processing, .operations])
            try await running(router, images) { visitor in
                let (refused, known) = token == nil ? ("404", "404") : ("403", "200")
                for path in ["/images/metrics", "/images/cache"] {
                    #expect(try await visitor.head(path).hasPrefix("HTTP/1.1 \(refused)"))
                    let head = try await visitor.head(
                        path, "Authorization: Bearer secret-of-operators")
                    #expect(head.hasPrefix("HTTP/1.1 \(known)"))
                }
                let picture = try await visitor.head("/images/_/w:9/plain/local:///china.jpg")
                #expect(picture.hasPrefix("HTTP/1.1 200"))
            }
        }
    }

    @Test func whatTheApplicationHasNotAskedForIsNotThere() async throws {
        let images = try images {
            $0.playground = true
            $0.operationsToken = "secret-of-operators"
            $0.serveIIIF()
        }
        let router = Router()
        images.addRoutes(to: router, at: "usual")
        images.addRoutes(to: router, at: "pictures", routes: .processing)
        images.addRoutes(to: router, at: "health", routes: .health)
        let picture = "/_/w:9/plain/local:///china.jpg"
        let rows: [(path: String, places: Set<String>)] = [
            (picture, ["usual", "pictures"]), ("/info/_/s:1/plain/local:///china.jpg", ["usual"]),
            ("/iiif/3/china/info.json", ["usual"]), ("/live", ["health"]), ("/metrics", []),
            ("/cache", []), ("/playground/", []),
        ]
        try await running(router, images) { visitor in
            for (path, places) in rows {
                for place in ["usual", "pictures", "health"] {
                    let head = try await visitor.head(
                        "/\(place)\(path)", "Authorization: Bearer secret-of-operators")
                    let status = places.contains(place) ? "200" : "404"
                    #expect(head.hasPrefix("HTTP/1.1 \(status)"), "\(place) \(path)")
                }
            }
            await images.state.wait(until: .ready)
        }
        // The application has ended.
        #expect(images.state.phase == .draining)
    }

    /// What happens to the process is the application's, and so is where it listens.
    @Test func theAddressesAndTheDrainOfTheSettingsAreNotUsed() async throws {
        let full = try FullPort()
        let images = try images {
            $0.bind = [.tcp(host: "127.0.0.1", port: full.number)]
            $0.operationsBind = .tcp(host: "127.0.0.1", port: full.number + 1)
            $0.drain.delay = .seconds(600)
        }
        let router = Router()
        images.addRoutes(to: router, at: "images")
        try await running(router, images) { visitor in
            let head = try await visitor.head("/images/_/w:9/plain/local:///china.jpg")
            #expect(head.hasPrefix("HTTP/1.1 200 OK"))
        }
    }

    @Test func theGuideShowsHowItIsDone() async throws {
        let configuration = try images().configuration
        // guide: server/embedding
        let images = try ImageServer(configuration: configuration)
        let router = Router()
        images.addRoutes(to: router, at: "images")
        let application = Application(router: router, services: [images])
        // end
        #expect(application.configuration.address == .hostname("127.0.0.1", port: 8080))
    }

    @Test func anApplicationAnswersWithAPlanOfItsOwn() async throws {
        let images = try images()
        let router = Router()
        router.get("small/:name") { request, context in
            var plan = ImagePlan(source: "local:///\(try context.parameters.require("name"))")
            plan.options.width = 40
            plan.options.format = .png
            return await images.response(for: plan, to: request)
        }
        try await running(router, images) { visitor in
            let head = try await visitor.head("/small/china.jpg")
            #expect(head.hasPrefix("HTTP/1.1 200 OK"))
            #expect(head.lowercased().contains("content-type: image/png"))
        }
    }

    @Test(arguments: [
        ("/images/_/plain/a", 1, "/images", "/_/plain/a"),
        ("//api//images/x//y?z=/q", 2, "//api//images", "/x//y?z=/q"),
        ("/images", 1, "/images", ""), ("/_/a", 0, "", "/_/a"), ("/a?b/c", 2, "/a", "?b/c"),
    ])
    func whatLeadsToTheServerIsCutOffBySegments(
        target: String, segments: Int, path: String, rest: String
    ) {
        let mount = Mount(target: target, segments: segments)
        #expect(mount.path == path && mount.rest == rest)
    }
}
