import Foundation
import HalcyonHTTP
import HalcyonTestKit
import HalcyonWork
import Hummingbird
import Logging
import ServiceLifecycle

@testable import HalcyonServer

/// A bucket of a store of Amazon's protocol, as far as image servers use it, on a free port.
final class Bucket: Sendable {
    private struct Object {
        let fields: HalcyonHTTP.HTTPFields
        let body: ByteBuffer
    }

    private let port: Int
    /// By their paths.
    private let objects: Observed<[String: Object]>
    private let asked: Locked<[String]>

    /// It serves until the tests have ended: servers put what they have made there behind their answers.
    init() async throws {
        let objects = Observed<[String: Object]>([:])
        let asked = Locked<[String]>([])
        let listening = OneShot<Int>()
        let application = ServerApplication.make(
            .hostname("127.0.0.1", port: 0), ImageServerConfiguration(),
            clients: ClientRegistry(), logger: Logger(label: "bucket"), time: .system,
            onListening: { listening.give($0.localAddress?.port ?? 0) },
            refusal: { failure, _ in .text(failure.kind.status, failure.kind.summary) }
        ) { request in
            asked.withLock { $0.append("\(request.method) \(request.target)") }
            return await Self.answer(request, objects)
        }
        self.objects = objects
        self.asked = asked
        Task {
            try await ServiceGroup(
                configuration: .init(services: [application], logger: application.logger)
            ).run()
        }
        port = await listening.value
    }

    private static func answer(
        _ request: ServerRequest, _ objects: Observed<[String: Object]>
    ) async -> ServerAnswer {
        let body = try? await request.body(1 << 20)
        return objects.update { objects -> ServerAnswer in
            let known = objects[request.target]
            switch request.method {
            case "PUT":
                guard let body, known == nil || !request.fields.contains("If-None-Match") else {
                    return ServerAnswer(status: 412, fields: [:])
                }
                objects[request.target] = Object(fields: request.fields, body: body)
                return ServerAnswer(status: 200, fields: [:])
            case "DELETE":
                objects[request.target] = nil
                return ServerAnswer(status: 204, fields: [:])
            default:
                guard let known else { return ServerAnswer(status: 404, fields: [:]) }
                let fields = known.fields.lines.filter { $0.name.lowercased().hasPrefix("x-amz-") }
                return ServerAnswer(status: 200, fields: .init(fields), body: known.body)
            }
        }
    }

    func use(_ configuration: inout ImageServerConfiguration) {
        configuration.shared.s3.endpoint = "http://127.0.0.1:\(port)"
        configuration.shared.s3.bucket = "pictures"
        configuration.shared.s3.accessKey = "a"
        configuration.shared.s3.secretKey = "s"
        // For a busy machine.
        configuration.shared.s3.timeout = .seconds(20)
    }

    /// Has an image server use it for all that it shares: nothing is small enough for Redis, which says where it is.
    func useForAll(_ configuration: inout ImageServerConfiguration) {
        use(&configuration)
        configuration.shared.redis.maxBytes = 10
    }

    /// Methods and paths.
    var requests: [String] { asked.value }

    func forgetRequests() { asked.set([]) }

    /// Changes a byte of each picture.
    func damagePictures() {
        objects.update { objects in
            for (path, object) in objects where path.hasPrefix("/pictures/r/") {
                var bytes = Array(object.body.readableBytesView)
                bytes[bytes.count / 2] ^= 1
                objects[path] = Object(fields: object.fields, body: ByteBuffer(bytes: bytes))
            }
        }
    }

    /// Of the pictures among objects.
    private static func generations(_ objects: [String: Object]) -> [Int] {
        objects.filter { $0.key.hasPrefix("/pictures/r/") }.values.map {
            $0.fields.first("x-amz-meta-halcyon-generation").flatMap { Int($0) } ?? 0
        }
    }

    func waitForPictures(_ count: Int) async {
        await objects.wait { Self.generations($0).count == count }
    }

    /// Waits for a picture of a later generation.
    ///
    /// - Returns: Its generation.
    func picture(after generation: Int) async -> Int {
        let then = await objects.wait { Self.generations($0).contains { $0 > generation } }
        return Self.generations(then ?? [:]).first { $0 > generation } ?? generation
    }
}
