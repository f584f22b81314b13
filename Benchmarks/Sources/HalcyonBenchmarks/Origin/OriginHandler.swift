import Foundation
import NIOCore
import Synchronization

/// Requests answered, for files.
final class RequestCounter: Sendable {
    private let count = Atomic(0)

    func add() { count.add(1, ordering: .relaxed) }
    func take() -> Int { count.exchange(0, ordering: .relaxed) }
}

/// Answers the requests of one connection. Understands GET without a body; `/requests` answers with
/// the number of requests for files since it was last asked, `/delayed/NAME` as `/NAME` does, but 100 ms
/// later, and `/stale/NAME` after 50 ms with a picture that is stale at once, which a condition finds
/// unchanged.
final class OriginHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let responses: [String: ByteBuffer]
    private let staleResponses: [String: ByteBuffer]
    private let counter: RequestCounter
    private var unread = ByteBuffer()

    init(
        responses: [String: ByteBuffer], staleResponses: [String: ByteBuffer],
        counter: RequestCounter
    ) {
        self.responses = responses
        self.staleResponses = staleResponses
        self.counter = counter
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        unread.writeBuffer(&bytes)
        while let head = nextHead() {
            // GET /name/anything HTTP/1.1
            let target = head.split(separator: " ", maxSplits: 2).dropFirst().first ?? ""
            let path = target.split(separator: "/")
            if path.first == "delayed" {
                writeLater(
                    response(to: path.dropFirst()), after: .milliseconds(100), context: context)
            } else if path.first == "stale" {
                writeLater(
                    staleResponse(to: path.dropFirst(), head), after: .milliseconds(50),
                    context: context)
            } else {
                context.write(wrapOutboundOut(response(to: path[...])), promise: nil)
            }
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
        unread.discardReadBytes()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A client that has gone needs no answer.
        context.close(promise: nil)
    }

    /// The next whole request.
    private func nextHead() -> Substring? {
        let view = unread.readableBytesView
        guard
            let end = view.indices.dropFirst(3).first(where: { index in
                view[index] == 0x0A && view[index - 1] == 0x0D && view[index - 2] == 0x0A
                    && view[index - 3] == 0x0D
            })
        else { return nil }
        return unread.readString(length: end - view.startIndex + 1).map { $0[...] }
    }

    private func writeLater(
        _ response: ByteBuffer, after delay: TimeAmount, context: ChannelHandlerContext
    ) {
        context.eventLoop.assumeIsolated().scheduleTask(in: delay) {
            context.writeAndFlush(self.wrapOutboundOut(response), promise: nil)
        }
    }

    private func staleResponse(to path: ArraySlice<Substring>, _ head: Substring) -> ByteBuffer {
        counter.add()
        if head.contains("If-None-Match: ") { return OriginResponse.notModified }
        return staleResponses[path.first.map(String.init) ?? ""] ?? OriginResponse.notFound
    }

    private func response(to path: ArraySlice<Substring>) -> ByteBuffer {
        let name = path.first.map(String.init) ?? ""
        if name == "requests" {
            return OriginResponse.ok(
                Data("\(counter.take())".utf8), contentType: "text/plain")
        }
        counter.add()
        return responses[name] ?? OriginResponse.notFound
    }
}
