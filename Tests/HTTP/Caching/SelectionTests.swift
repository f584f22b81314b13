import Foundation
import Testing

@testable import HalcyonHTTP

@Suite("Vary")
struct SelectionTests {
    private let policy = HTTPCachePolicy.testing()

    /// Whether a response that varies by `name` and answered the one request matches the other.
    private func isSame(_ name: String, _ one: [String], _ other: [String]) -> Bool {
        func request(_ values: [String]) -> HTTPCacheRequest {
            .get(HTTPFields(values.map { .init(name: name, value: $0) }))
        }
        guard let stored = policy.storing(["Vary": name], to: request(one)).stored else {
            return false
        }
        return policy.matches(stored, request(other))
    }

    @Test("Lines may be combined, and spaces around commas do not count")
    func whitespace() {
        #expect(isSame("X", ["a, b"], ["a", "b"]))
        #expect(isSame("X", ["a ,\tb,"], ["a,b"]))
        #expect(!isSame("X", ["a, b"], ["b, a"]))
        #expect(!isSame("X", ["a"], ["A"]))
        #expect(!isSame("X", ["a b"], ["a  b"]))
        #expect(!isSame("X", [], [""]), "absent is not empty")
    }

    @Test(
        "In the fields of negotiation order, case and a quality of 1 do not count",
        arguments: ["Accept", "accept-language", "Accept-Encoding", "Accept-Charset"])
    func negotiation(name: String) {
        #expect(isSame(name, ["DE, en;q=0.5"], ["en; Q = 0.5", "de;q=1.000"]))
        #expect(!isSame(name, ["de"], ["de;q=0.9"]))
        #expect(!isSame(name, ["de;q=1.0"], ["de;q=1.01"]))
    }

    @Test("Values of different fields cannot be confused")
    func unambiguous() {
        let stored = policy.storing(["Vary": "A, B"], to: .get(["A": "1", "B": "2"])).stored
        for fields in [["A": "1B2"], ["A": "12"], ["A": "2", "B": "1"]] as [HTTPFields] {
            #expect(stored.map { policy.matches($0, .get(fields)) } == false)
        }
    }

    @Test("Names are taken from all lines, without regard to case, once")
    func names() {
        #expect(VaryKey.names(in: ["Vary": "B, a", "vary": ",A ,c"]) == ["a", "b", "c"])
    }

    @Test("Nothing of a request's values is kept but their hash")
    func hashed() {
        let policy = HTTPCachePolicy(.on, digest: { _ in [7] })
        let request = HTTPCacheRequest.get(["Cookie": "secret"])
        let stored = policy.storing(["Vary": "Cookie"], to: request).stored
        #expect(stored?.variant == [7])
        #expect(policy.storing([:], to: request).stored?.variant == [])
    }

    @Test("Of several that match the latest is chosen, by Date and then by receipt")
    func latest() {
        func response(date: TimeInterval, received: TimeInterval) -> StoredResponse {
            let text = HTTPDateText.fixed(noon.addingTimeInterval(date))
            var response = StoredResponse.at(noon: ["Date": text])
            response.received = noon.addingTimeInterval(received)
            return response
        }
        func chosen(_ responses: StoredResponse...) -> Int? {
            guard case .response(_, let index) = policy.select(.get(), among: responses) else {
                return nil
            }
            return index
        }
        #expect(chosen(response(date: 0, received: 9), response(date: 5, received: 6)) == 1)
        #expect(chosen(response(date: 5, received: 9), response(date: 5, received: 6)) == 0)
    }

    @Test("One without Vary is chosen beside others only when it is the newest")
    func plainBesideVarying() throws {
        let request = HTTPCacheRequest.get(["X": "a"])
        let varying = try #require(policy.storing(["Vary": "X"], to: request).stored)
        var plain = StoredResponse.at(noon: [:])
        #expect(policy.select(.get(["X": "b"]), among: [varying, plain]) == .varyMismatch)
        plain.received = noon.addingTimeInterval(1)
        #expect(
            policy.select(.get(["X": "b"]), among: [varying, plain]) == .response(plain, index: 1))
        #expect(policy.select(request, among: [varying, plain]) == .response(plain, index: 1))
        #expect(policy.select(request, among: []) == .nothingStored)
    }
}
