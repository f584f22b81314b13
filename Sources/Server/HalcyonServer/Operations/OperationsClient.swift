import Foundation
import FoundationNetworking
import HalcyonCluster
import HalcyonHTTP
import HalcyonWork
import NIOCore
import NIOPosix

/// Sends requests to the operations address of a running server: by TCP, or by a Unix socket, which
/// the transport of downloads does not support.
struct OperationsClient {
    let address: ListenAddress
    let patience: Duration
    var time = TimeSource.system

    struct Answer {
        let status: Int
        let body: Data
    }

    /// - Parameters:
    ///   - json: The body, sent by POST; `nil` for GET.
    ///   - limit: The maximum number of bytes in the response.
    func answer(
        to target: String, json: Data? = nil, token: String? = nil, limit: Int
    ) async throws -> Answer {
        switch address {
        case .tcp: try await answerByTCP(to: target, json, token, limit)
        case .unix(let path):
            try await answerBySocket(path, to: request(target, json, token), limit)
        }
    }

    private func answerByTCP(
        to target: String, _ json: Data?, _ token: String?, _ limit: Int
    ) async throws -> Answer {
        guard let url = URL(string: "http://\(address)\(target)") else {
            throw NoAnswer(description: "\(address) is no address")
        }
        var request = URLRequest(url: url)
        request.httpMethod = json == nil ? "GET" : "POST"
        request.httpBody = json
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        var client = HTTPClientConfiguration()
        client.connectTimeout = min(5, patience.inSeconds)
        client.usesEnvironmentProxies = false
        let answer = try await CurlTransport.shared(for: client).answer(
            to: request,
            terms: ExchangeTerms(
                stall: patience, deadline: time.systemInstant(of: time.now + patience)),
            limit: limit)
        return Answer(status: answer.head.status, body: answer.body)
    }

    private func request(_ target: String, _ json: Data?, _ token: String?) -> ByteBuffer {
        var lines = [
            "\(json == nil ? "GET" : "POST") \(target) HTTP/1.1", "Host: localhost",
            "Connection: close",
        ]
        if let token { lines.append("Authorization: Bearer \(token)") }
        if let json { lines.append("Content-Length: \(json.count)") }
        var bytes = ByteBuffer(string: lines.map { $0 + "\r\n" }.joined() + "\r\n")
        if let json { bytes.writeBytes(json) }
        return bytes
    }

    /// Reads the whole response, after which the server closes the connection, into memory.
    private func answerBySocket(
        _ path: String, to request: ByteBuffer, _ limit: Int
    ) async throws -> Answer {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(TimeAmount(min(.seconds(5), patience)))
            .connect(unixDomainSocketPath: path) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel)
                }
            }
        let timer = time.alarm(at: time.now + patience, on: channel.channel.eventLoop) {
            channel.channel.close(promise: nil)
        }
        defer { timer.cancel() }
        let bytes = try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(request)
            var bytes = ByteBuffer()
            for try await part in inbound {
                guard bytes.readableBytes + part.readableBytes <= limit else {
                    throw NoAnswer(description: "the answer has more than \(limit) bytes")
                }
                bytes.writeImmutableBuffer(part)
            }
            return Data(bytes.readableBytesView)
        }
        guard bytes.starts(with: Data("HTTP/1.1 ".utf8)),
            let end = bytes.firstRange(of: Data("\r\n\r\n".utf8)),
            let status = Int(String(decoding: bytes.dropFirst(9).prefix(3), as: UTF8.self))
        else { throw NoAnswer(description: "there is no answer") }
        return Answer(status: status, body: bytes.suffix(from: end.upperBound))
    }
}

private struct NoAnswer: Error, CustomStringConvertible {
    let description: String
}
