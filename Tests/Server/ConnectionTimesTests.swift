import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import Testing

@testable import HalcyonServer

/// The time limits of a connection, on an event loop whose clock is moved by hand.
@Suite struct ConnectionTimesTests {
    private let loop = EmbeddedEventLoop()
    private let channel: EmbeddedChannel

    init() throws {
        let times = ConnectionLimits.Times(
            head: .seconds(10), idle: .seconds(60), write: .seconds(30), lastRequest: .seconds(5))
        channel = EmbeddedChannel(loop: loop)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers(
            HTTPResponseEncoder(), ByteToMessageHandler(HTTPRequestDecoder()),
            HTTP1ToHTTPServerCodec(secure: false), ConnectionLimits(times))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        channel.read()
    }

    private func send(_ text: String = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") throws {
        try channel.writeInbound(ByteBuffer(string: text))
        channel.read()
    }

    /// Sends a response; returns it as the client receives it.
    private func answer() throws -> String {
        let head = HTTPResponse(status: .ok, headerFields: [.contentLength: "0"])
        try channel.writeOutbound(HTTPResponsePart.head(head))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
        var text = ""
        while let bytes = try channel.readOutbound(as: ByteBuffer.self) {
            text += String(buffer: bytes)
        }
        return text
    }

    @Test func anIdleConnectionEndsAfterItsTimeAndNotBefore() {
        loop.advanceTime(by: .seconds(59))
        #expect(channel.isActive)
        loop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func theTimeOfAnIdleConnectionBeginsAnewWithEachRequestAndItsResponse() throws {
        for _ in 0..<3 {
            loop.advanceTime(by: .seconds(50))
            try send()
            // A response may take its time.
            loop.advanceTime(by: .seconds(500))
            #expect(try answer().hasPrefix("HTTP/1.1 200"))
        }
        loop.advanceTime(by: .seconds(59))
        #expect(channel.isActive)
        loop.advanceTime(by: .seconds(61))
        #expect(!channel.isActive)
    }

    @Test func aServerThatEndsWaitsForALastRequest() throws {
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        loop.advanceTime(by: .seconds(4))
        try send()
        loop.advanceTime(by: .seconds(20))
        #expect(channel.isActive)
        #expect(try answer().lowercased().contains("connection: close"))
    }

    @Test func aServerThatEndsLeavesAConnectionWithoutARequest() {
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        loop.advanceTime(by: .seconds(4))
        #expect(channel.isActive)
        loop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func aRequestWhoseHeadTakesTooLongEndsTheConnection() throws {
        try send("GET / HT")
        loop.advanceTime(by: .seconds(9))
        #expect(channel.isActive)
        loop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func bytesInBetweenDoNotLengthenTheTimeOfAHead() throws {
        for piece in ["GET", " /", " HT", "TP/", "1.1"] {
            try send(piece)
            loop.advanceTime(by: .seconds(2))
        }
        #expect(!channel.isActive)
    }
}
