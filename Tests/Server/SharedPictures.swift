import Foundation
import HalcyonServer
import HalcyonTestKit
import HalcyonWork

/// An origin with a green picture at `/a.png`, a Redis, and a bucket, which servers share.
struct SharedPictures {
    let origin: OriginServer
    let redis: RedisServer
    let bucket: Bucket

    init() async throws {
        origin = try await OriginServer.start()
        redis = try await RedisServer.start()
        bucket = try await Bucket()
        route(PNGFixture.green, tag: 1)
    }

    /// Has the origin answer with a picture, and a number for a tag.
    func route(_ picture: Data, tag: Int, _ change: (OriginResponse) -> OriginResponse = { $0 }) {
        origin.route("/a.png", change(.png(picture).with(.entityTag("\"\(tag)\""))))
    }

    func target(_ options: String = "w:10") -> String { origin.target("/a.png", options) }

    /// - Parameter areLarge: Whether sources and pictures are too large for Redis, which says where they are.
    func server(
        areLarge: Bool, _ time: TimeSource = .system, _ change: LiveServer.Change = { _ in }
    ) async throws -> LiveServer {
        try await LiveServer.start(origin, redis, time: time) {
            if areLarge { bucket.useForAll(&$0) }
            try change(&$0)
        }
    }
}
