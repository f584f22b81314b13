import Foundation
import NIOCore
import Testing

@testable import HalcyonTestKit

@Suite struct ByteRangeTests {
    @Test(arguments: [
        ("bytes=0-0", ByteRange.part(0..<1)), ("bytes=2-", .part(2..<10)),
        ("bytes=-3", .part(7..<10)), ("bytes=-30", .part(0..<10)), ("bytes=4-99", .part(4..<10)),
        ("bytes=10-", .unsatisfiable), ("bytes=-0", .unsatisfiable), ("bytes=5-4", .whole),
        ("bytes=1-2,4-5", .whole), ("items=0-1", .whole), ("bytes=a-b", .whole), ("bytes=", .whole),
    ])
    func readsTheField(header: String, expected: ByteRange) {
        #expect(ByteRange(header: header, length: 10) == expected)
    }
}

@Suite struct BodyStepsTests {
    /// Each step as text: bytes as they are, a wait as `|`.
    private func texts(_ steps: BodySteps, count: Int = 20) -> [String] {
        var steps = steps
        var texts: [String] = []
        while texts.count < count, let step = steps.next() {
            switch step {
            case .wait: texts.append("|")
            case .bytes(let bytes): texts.append(String(buffer: bytes))
            case .file: texts.append("file")
            }
        }
        return texts
    }

    private func steps(_ text: String) -> BodySteps {
        BodySteps(source: .bytes(ByteBuffer(string: text)))
    }

    @Test func sendsAPlainBodyAtOnce() {
        #expect(texts(steps("hello")) == ["hello"])
        #expect(texts(steps("")) == [])
        #expect(steps("hello").immediate == ByteBuffer(string: "hello"))
    }

    @Test func cutsSlicesAndPausesBetweenThem() {
        var steps = steps("abcde")
        steps.sliceLength = 2
        #expect(texts(steps) == ["ab", "cd", "e"])
        steps.pacing = .interval(.seconds(1))
        #expect(texts(steps) == ["ab", "|", "cd", "|", "e"])
        steps.pacing = .gates([Gate()])
        #expect(texts(steps) == ["|", "ab", "cd", "e"])
    }

    @Test func holdsAtAnyPlaceTheEndIncluded() {
        var steps = steps("abcde")
        steps.holds = [(0, .gate(Gate())), (3, .gate(Gate())), (5, .gate(Gate()))]
        #expect(texts(steps) == ["|", "abc", "|", "de", "|"])
        #expect(steps.immediate == nil)
    }

    @Test func breaksOffAtTheLimit() {
        var steps = steps("abcde")
        steps.limit = 3
        #expect(texts(steps) == ["abc"])
        steps.limit = 9
        #expect(texts(steps) == ["abcde"])
        steps.limit = 0
        #expect(texts(steps) == [])
        #expect(steps.isAtEnd)
    }

    @Test func repeatsAPieceForEver() {
        var steps = BodySteps(source: .endless(ByteBuffer(string: "abc")))
        #expect(texts(steps, count: 3) == ["abc", "abc", "abc"])
        steps.sliceLength = 2
        #expect(texts(steps, count: 3) == ["ab", "ca", "bc"])
        #expect(!steps.isAtEnd)
    }
}

@Suite struct RouteTableTests {
    private func status(_ table: inout RouteTable, _ target: String) -> (Int, ordinal: Int)? {
        let request = RecordedRequest(target: target)
        guard case .responder(let responder, let ordinal) = table.match(request) else { return nil }
        return (responder.response(to: request, ordinal: ordinal).status, ordinal)
    }

    @Test func prefersTheRouteThatNamesTheQuery() {
        var table = RouteTable()
        table.set("/a", .response(.status(201)))
        table.set("/a?x=1", .response(.status(202)))
        #expect(status(&table, "/a")?.0 == 201)
        #expect(status(&table, "/a?x=2")?.0 == 201)
        #expect(status(&table, "/a?x=1")?.0 == 202)
        #expect(status(&table, "/b") == nil)
    }

    @Test func comparesPathsDecoded() {
        var table = RouteTable()
        table.set("/a b.png", .response(.status(201)))
        table.set("/%C3%BC", .response(.status(202)))
        #expect(status(&table, "/a%20b.png")?.0 == 201)
        #expect(status(&table, "/%c3%bc")?.0 == 202)
    }

    @Test func countsTheRequestsSinceARouteWasSet() {
        var table = RouteTable()
        table.set("/a", .sequence([.status(500), .status(200)]))
        #expect(status(&table, "/a")?.0 == 500)
        #expect(status(&table, "/a")?.0 == 200)
        #expect(status(&table, "/a")?.ordinal == 2)
        table.set("/a", .response(.status(201)))
        #expect(status(&table, "/a")?.ordinal == 0)
    }

    @Test func givesADirectoryWhereNoRouteFits() throws {
        var table = RouteTable()
        let root = URL(fileURLWithPath: "/srv")
        table.add(ServedDirectory(prefix: "/", root: root))
        table.add(ServedDirectory(prefix: "/deep", root: root.appendingPathComponent("other")))
        table.set("/deep/x", .response(.status(201)))
        #expect(status(&table, "/deep/x")?.0 == 201)
        guard case .directory(let deep) = table.match(RecordedRequest(target: "/deep/y")),
            case .directory(let top) = table.match(RecordedRequest(target: "/deeper"))
        else {
            Issue.record("both paths lie below a directory")
            return
        }
        #expect(deep.file(for: "/deep/y")?.path == "/srv/other/y")
        #expect(top.file(for: "/deeper")?.path == "/srv/deeper")
        #expect(top.file(for: "/a/../../etc") == nil)
        #expect(top.file(for: "/") == nil)
    }
}

@Suite struct TrafficLogTests {
    @Test func keepsPeaksAndCountsAnEndOnce() {
        var log = TrafficLog()
        #expect(log.connectionOpened() == 1)
        #expect(log.connectionOpened() == 2)
        log.connectionClosed(1)
        let first = log.requestReceived(RecordedRequest(target: "/a"))
        let second = log.requestReceived(RecordedRequest(target: "/a?b"))
        log.responseEnded(first, abandoned: false)
        log.responseEnded(first, abandoned: true)
        log.responseEnded(second, abandoned: true)
        #expect(log.openConnections == [2])
        #expect(log.peakConnections == 2)
        #expect(log.peakPending == 2)
        #expect(log.pending.isEmpty)
        #expect(log.abandoned == 1)
        #expect(log.countByPath == ["/a": 2])
        log.forget()
        #expect(log.requests.isEmpty)
        #expect(log.peakPending == 0)
        #expect(log.peakConnections == 1)
    }
}

@Suite struct HeaderFieldsTests {
    @Test func ignoresTheCaseOfNames() {
        var fields: HeaderFields = ["Accept": "a", "accept": "b", "Host": "h"]
        #expect(fields["ACCEPT"] == "a")
        #expect(fields.values("Accept") == ["a", "b"])
        fields["aCcept"] = "c"
        #expect(fields.values("Accept") == ["c"])
        fields["Host"] = nil
        #expect(fields.fields.map(\.name) == ["aCcept"])
    }
}
