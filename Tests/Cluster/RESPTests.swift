import HalcyonCluster
import NIOCore
import Testing

/// The Redis protocol, version 2.
@Suite struct RESPTests {
    static let values: [(String, RESPValue)] = [
        ("+OK\r\n", .status("OK")), ("+\r\n", .status("")),
        ("-ERR unknown command\r\n", .error("ERR unknown command")), (":0\r\n", .integer(0)),
        (":-9223372036854775808\r\n", .integer(.min)), ("$0\r\n\r\n", .bytes(ByteBuffer())),
        ("$4\r\n\r\n$1\r\n", .bytes(ByteBuffer(string: "\r\n$1"))), ("$-1\r\n", .null),
        ("*-1\r\n", .null), ("*0\r\n", .array([])),
        (
            "*3\r\n$1\r\na\r\n:7\r\n*1\r\n$-1\r\n",
            .array([.bytes(ByteBuffer(string: "a")), .integer(7), .array([.null])])
        ),
    ]

    @Test(arguments: values)
    func valuesAreReadHoweverTheyArrive(text: String, expected: RESPValue) throws {
        let decoder = RESPDecoder()
        let bytes = Array(text.utf8)
        for cut in 0..<bytes.count {
            var buffer = ByteBuffer(bytes: bytes[..<cut])
            let part = try decoder.value(in: &buffer)
            #expect(part == nil)
            #expect(buffer.readableBytes == cut)
            buffer.writeBytes(bytes[cut...])
            buffer.writeString("+next\r\n")
            let whole = try decoder.value(in: &buffer)
            #expect(whole == expected)
            let next = try decoder.value(in: &buffer)
            #expect(next == .status("next"))
            #expect(buffer.readableBytes == 0)
        }
    }

    @Test(arguments: [
        "OK\r\n", "\r\n", ":x\r\n", ":\r\n", "$-2\r\n", "$x\r\n", "*-2\r\n", "$1\r\nab\r\n",
        "+a\rb\r\n", "$99999999999\r\n", "*99999999999\r\n", String(repeating: "*1\r\n", count: 20),
    ])
    func whatIsNoValueIsAnError(text: String) {
        #expect(throws: RESPError.self) {
            var buffer = ByteBuffer(string: text)
            _ = try RESPDecoder(maximumBytes: 1 << 20).value(in: &buffer)
        }
    }

    @Test func aValueThatDoesNotEndIsAnError() {
        #expect(throws: RESPError.self) {
            var buffer = ByteBuffer(string: "+" + String(repeating: "a", count: 100_000))
            _ = try RESPDecoder().value(in: &buffer)
        }
    }

    @Test func aCommandIsAnArrayOfBytes() {
        var command: RESPCommand = ["SET", "clé"]
        command.arguments.append(ByteBuffer(bytes: [0, 13, 10]))
        var buffer = ByteBuffer()
        command.write(to: &buffer)
        #expect(String(buffer: buffer) == "*3\r\n$3\r\nSET\r\n$4\r\nclé\r\n$3\r\n\u{0}\r\n\r\n")
    }
}
