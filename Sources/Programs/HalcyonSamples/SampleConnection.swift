import Foundation

struct SampleConnection {
    /// Bytes of a request's header.
    private static let longestHeader = 64 * 1024

    let descriptor: Int32

    /// Answers requests, one after the other, until either side has enough.
    /// - Parameter answer: What to answer to a path, which is percent-decoded and without its query;
    ///   `nil` ends the connection.
    func serve(_ answer: (String) -> SampleAnswer?) {
        var received: [UInt8] = []
        let end = Array("\r\n\r\n".utf8)
        while true {
            guard let bound = received.firstRange(of: end) else {
                guard received.count < Self.longestHeader, receive(into: &received) else { return }
                continue
            }
            let header = String(decoding: received[..<bound.lowerBound], as: UTF8.self)
            received.removeSubrange(..<bound.upperBound)
            let words = header.prefix { $0 != "\r\n" }.split(separator: " ")
            // Requests with a body are none that a picture needs.
            guard words.count == 3, words[0] == "GET" || words[0] == "HEAD" else { return }
            let path = words[1].prefix { $0 != "?" }
            guard let answer = answer(String(path).removingPercentEncoding ?? ""),
                send(answer, withBody: words[0] == "GET", isKnown: answer.isKnown(to: header))
            else { return }
        }
    }

    private func receive(into received: inout [UInt8]) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return false }
        received += bytes[..<count]
        return true
    }

    /// - Returns: Whether the connection may carry another answer.
    private func send(_ answer: SampleAnswer, withBody: Bool, isKnown: Bool) -> Bool {
        var body = answer.body[...]
        switch answer.end {
        case .complete: break
        case .cutOff(let count): body = body.prefix(count)
        case .reset:
            // Lingering for no time makes close() reset the connection.
            var none = linger(l_onoff: 1, l_linger: 0)
            setsockopt(
                descriptor, SOL_SOCKET, SO_LINGER, &none, socklen_t(MemoryLayout<linger>.size))
            return false
        }
        guard send(Data(answer.header(isKnown: isKnown).utf8)[...]) else { return false }
        guard withBody, !isKnown else { return true }
        let length = max(1, (body.count + answer.pieces - 1) / answer.pieces)
        var isFirst = true
        while !body.isEmpty {
            if !isFirst { Thread.sleep(forTimeInterval: answer.pause / .seconds(1)) }
            isFirst = false
            guard send(body.prefix(length)) else { return false }
            body = body.dropFirst(length)
        }
        if case .complete = answer.end { return true }
        return false
    }

    private func send(_ bytes: Data.SubSequence) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }
}
