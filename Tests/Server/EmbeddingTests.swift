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

    /// Runs an application with the router for as long as `body` runs, which is given its port.
    private func running(
        _ router: Router<BasicRequestContext>, _ images: ImageServer,
        _ body: (Int) async throws -> Void
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
        try await body(await port.value)
        await group.triggerGracefulShutdown()
        try await end
    }

    private func status(_ answer: (head: String, body: [UInt8], error: Int32)) -> String {
        String(answer.head.split(separator: "\r\n").first ?? "")
    }

    @Test(arguments: [false, true])
    func theRoutesAreBelowAPathOfTheApplication(stopsWork: Bool) async throws {
        let images = try images {
            $0.serveIIIF()
        }
        let router = Router()
        router.get("hello") { _, _ in "hello" }
        let group = router.group("api")
        images.addRoutes(
            to: group, at: "pictures/v1", routes: [.processing, .info, .health],
            stopsWorkForLostClients: stopsWork)
        try await running(router, images) { port in
            let close = ["Connection: close"]
            let base = "/api/pictures/v1"
            for _ in 0..<2 {
                let answer = try await RawClient(port: port).exchange(
                    "\(base)/_/w:30/plain/local:///china.jpg@png", headers: close)
                #expect(status(answer) == "HTTP/1.1 200 OK")
                #expect(answer.head.lowercased().contains("content-type: image/png"))
            }
            let plain = try await RawClient(port: port).exchange(
                "\(base)//_//plain/local:///china.jpg", headers: close)
            #expect(status(plain).contains("404"))
            let info = try await RawClient(port: port).exchange(
                "\(base)/info/_/s:1/plain/local:///china.jpg", headers: close)
            #expect(status(info) == "HTTP/1.1 200 OK")
            // Once the codecs are loaded.
            while try await status(
                RawClient(port: port).exchange("\(base)/ready", headers: close))
                != "HTTP/1.1 200 OK"
            { await Task.yield() }
            let post = try await RawClient(port: port).exchange(
                "\(base)/_/plain/local:///china.jpg", method: "POST", headers: close)
            #expect(status(post).contains("405"))
            let iiif = try await RawClient(port: port).exchange(
                "\(base)/iiif/3/china/info.json", headers: close)
            #expect(status(iiif).contains("404"))
            let hello = try await RawClient(port: port).exchange("/hello", headers: close)
            #expect(status(hello) == "HTTP/1.1 200 OK")
        }
    }

    @Test func operationsBelowAPathOfTheApplicationNeedTheToken() async throws {
        for token in [nil, "secret-of-operators"] {
            let images = try images { $0.operationsToken = token }
            let router = Router()
            images.addRoutes(to: router, at: "images", routes: [.processing, .operations])
            try await running(router, images) { port in
                func answer(_ path: String, _ fields: [String] = []) async throws -> String {
                    status(
                        try await RawClient(port: port).exchange(
                            "/images\(path)", headers: ["Connection: close"] + fields))
                }
                for path in ["/metrics", "/cache"] {
                    let refusal = token == nil ? "404" : "403"
                    #expect(try await answer(path).contains(refusal))
                    let known = try await answer(
                        path, ["Authorization: Bearer secret-of-operators"])
                    #expect(known.contains(token == nil ? "404" : "200"))
                }
                #expect(try await answer("/_/w:9/plain/local:///china.jpg").contains("200"))
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
        try await running(router, images) { port in
            for (path, places) in rows {
                for place in ["usual", "pictures", "health"] {
                    let answer = try await RawClient(port: port).exchange(
                        "/\(place)\(path)",
                        headers: [
                            "Connection: close", "Authorization: Bearer secret-of-operators",
                        ])
                    let isThere = places.contains(place)
                    #expect(
                        status(answer).contains(isThere ? "200" : "404"), "\(place) \(path)")
                }
            }
            while images.currentState != .ready { await pause() }
        }
        // The application has ended.
        #expect(images.currentState == .draining)
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
        try await running(router, images) { port in
            let answer = try await RawClient(port: port).exchange(
                "/images/_/w:9/plain/local:///china.jpg", headers: ["Connection: close"])
            #expect(status(answer) == "HTTP/1.1 200 OK")
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
        try await running(router, images) { port in
            let answer = try await RawClient(port: port).exchange(
                "/small/china.jpg", headers: ["Connection: close"])
            #expect(status(answer) == "HTTP/1.1 200 OK")
            #expect(answer.head.lowercased().contains("content-type: image/png"))
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
        #expect(mount.path == path)
        #expect(mount.rest == rest)
    }
}
