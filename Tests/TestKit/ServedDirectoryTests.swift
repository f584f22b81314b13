import Foundation
import HalcyonTestKit
import NIOHTTP1
import Testing

@Suite struct ServedDirectoryTests {
    @Test func streamsFilesOfATree() async throws {
        let directory = try TemporaryDirectory()
        let large = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 >> 3) })
        try directory.write(large, to: "deep/a b+ü.jpg")
        try directory.write(Data(), to: "empty.txt")
        let server = try await OriginServer.start()
        server.serve(directory: directory.url, under: "/files")
        try await withClient { client in
            let answer = try await client.get(server.url("/files/deep/a%20b+%C3%BC.jpg"))
            #expect(answer.status == 200)
            #expect(answer.headers["content-type"] == ["image/jpeg"])
            #expect(answer.body == large)

            let tag = try #require(answer.headers.first(name: "ETag"))
            let again = try await client.get(
                server.url("/files/deep/a%20b+%C3%BC.jpg"), headers: [("If-None-Match", tag)])
            #expect(again.status == 304)
            let part = try await client.get(
                server.url("/files/deep/a%20b+%C3%BC.jpg"), headers: [("Range", "bytes=-10")])
            #expect(part.status == 206)
            #expect(part.body == large.suffix(10))

            #expect(try await client.get(server.url("/files/empty.txt")).body.isEmpty)
            #expect(try await client.get(server.url("/files/absent")).status == 404)
            #expect(try await client.get(server.url("/files/deep")).status == 404)
        }
        try await server.shutdown()
    }

    @Test func letsNobodyOutOfTheTree() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(Data("secret".utf8), to: "secret.txt")
        try directory.write(Data("public".utf8), to: "public/a.txt")
        try FileManager.default.createSymbolicLink(
            at: directory.file("public/link.txt"), withDestinationURL: directory.file("secret.txt"))
        let server = try await OriginServer.start()
        server.serve(directory: directory.file("public"), under: "/")
        let paths = [
            "/../secret.txt", "/%2e%2e/secret.txt", "/x/..%2f..%2fsecret.txt", "/link.txt",
        ]
        for path in paths {
            let answer = try await RawClient(port: server.port)
                .exchange(path, headers: ["Connection: close"])
            #expect(answer.head.hasPrefix("HTTP/1.1 404"), "\(path)")
        }
        let good = try await RawClient(port: server.port)
            .exchange("/a.txt", headers: ["Connection: close"])
        #expect(good.body == Array("public".utf8))
        try await server.shutdown()
    }
}
