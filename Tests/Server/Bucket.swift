import Foundation
import HalcyonServer
import HalcyonTestKit
import HalcyonWork

/// A bucket of a store of Amazon's protocol, as far as image servers use it, on a free port.
final class Bucket: Sendable {
    private let origin: OriginServer
    /// By their paths.
    private let objects = Observed<[String: OriginResponse]>([:])
    private static let pictures = "/pictures/r/"

    init() async throws {
        origin = try await OriginServer.start()
        origin.route("/pictures/*") { [objects] request in
            objects.update { Self.answer(request, &$0) }
        }
    }

    private static func answer(
        _ request: RecordedRequest, _ objects: inout [String: OriginResponse]
    ) -> OriginResponse {
        let known = objects[request.target]
        switch request.method {
        case "PUT":
            guard known == nil || request.headers["If-None-Match"] == nil else {
                return OriginResponse(status: 412)
            }
            var object = OriginResponse(body: .data(request.body))
            for field in request.headers.fields where field.name.lowercased().hasPrefix("x-amz-") {
                object.headers.add(field.name, field.value)
            }
            objects[request.target] = object
            return .empty
        case "DELETE":
            objects[request.target] = nil
            return OriginResponse(status: 204)
        default: return known ?? .status(404)
        }
    }

    func use(_ configuration: inout ImageServerConfiguration) {
        configuration.shared.s3.endpoint = "http://127.0.0.1:\(origin.port)"
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
    var requests: [String] { origin.requests.map { "\($0.method) \($0.target)" } }

    func forgetRequests() { origin.forgetTraffic() }

    /// Changes a byte of each picture.
    func damagePictures() {
        objects.update { objects in
            for (path, object) in objects where path.hasPrefix(Self.pictures) {
                guard case .data(var bytes) = object.body else { continue }
                bytes[bytes.count / 2] ^= 1
                objects[path]?.body = .data(bytes)
            }
        }
    }

    private static func generations(_ objects: [String: OriginResponse]) -> [Int] {
        objects.filter { $0.key.hasPrefix(pictures) }.values.map {
            $0.headers["x-amz-meta-halcyon-generation"].flatMap { Int($0) } ?? 0
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
