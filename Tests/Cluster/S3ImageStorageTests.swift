import Foundation
import Halcyon
import HalcyonS3
import HalcyonTestKit
import HalcyonWork
import Testing

/// The storage of caches in a store, against a server that answers as it is told.
@Suite struct S3ImageStorageTests {
    private let keys = S3ImageStorage.Credentials.keys(access: "a", secret: "s")
    private let store: OriginServer

    init() async throws { store = try await OriginServer.start() }

    private func storage(timeout: Duration = .seconds(30)) throws -> S3ImageStorage {
        try S3ImageStorage(
            endpoint: store.url(""), bucket: "bucket", credentials: keys, prefix: "/some/prefix/",
            timeout: timeout)
    }

    @Test func aFileIsReplacedFoundAndRemovedUnderItsName() async throws {
        let storage = try storage()
        let path = "/bucket/some/prefix/i/abc"
        #expect(try await storage.data(named: "abc") == nil)
        store.route(path, .status(200))
        try await storage.store(Data("bytes".utf8), named: "abc")
        store.route(path, .status(204))
        try await storage.remove(named: "abc")
        let requests = store.requests
        #expect(requests.map(\.method) == ["GET", "PUT", "DELETE"])
        #expect(requests.allSatisfy { $0.path == path })
        #expect(requests[1].headers["If-None-Match"] == nil)
        #expect(requests[1].headers["x-amz-meta-halcyon-length"] == "5")
    }

    @Test func aStoreThatSaysNothingCostsItsTimeLimitUntilItIsLetAlone() async throws {
        let gate = Gate()
        for number in 0..<8 {
            store.route(
                "/bucket/some/prefix/i/\(number)",
                OriginResponse.ok(Data()).with(.wait(.gate(gate))))
        }
        let storage = try storage(timeout: .milliseconds(100))
        for number in 0..<8 {
            await #expect(throws: (any Error).self) { try await storage.data(named: "\(number)") }
        }
        #expect(store.requestCount <= 6)
        gate.open()
    }

    @Test func whatCannotBeAStoreIsTold() throws {
        let good = try #require(URL(string: "https://s3.example.com"))
        for text in ["ftp://s3.example.com", "file:///tmp", "https://s3.example.com/?a=b"] {
            let endpoint = try #require(URL(string: text))
            #expect(throws: S3ImageStorageError.endpoint(text)) {
                try S3ImageStorage(endpoint: endpoint, bucket: "a", credentials: keys)
            }
        }
        for bucket in ["", "a/b"] {
            #expect(throws: S3ImageStorageError.bucket(bucket)) {
                try S3ImageStorage(endpoint: good, bucket: bucket, credentials: keys)
            }
        }
        #expect("\(S3ImageStorageError.bucket("a/b"))".contains("a/b"))
    }
}
