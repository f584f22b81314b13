import Foundation
import FoundationNetworking
import HalcyonHTTP
import Synchronization

/// Asks servers how they are.
public enum ServerHealth {
    /// Whether the operations address of a server says within 2 seconds that it is ready.
    public static func isReady(host: String, port: Int) async -> Bool {
        let address = ListenAddress.tcp(host: host, port: port)
        guard let url = URL(string: "http://\(address)/ready") else { return false }
        var client = HTTPClientConfiguration()
        client.connectTimeout = 2
        client.usesEnvironmentProxies = false
        let deadline = ContinuousClock.now + .seconds(2)
        let status = Answered()
        do {
            _ = try await CurlTransport.shared(for: client).perform(
                URLRequest(url: url),
                terms: ExchangeTerms(stall: .seconds(2), deadline: deadline),
                onResponse: { head in
                    status.set(head.status)
                    return .discard
                }, onBody: { _ in })
        } catch {
            return false
        }
        return status.value == 200
    }
}

private final class Answered: Sendable {
    private let status = Mutex(0)
    var value: Int { status.withLock { $0 } }
    func set(_ new: Int) { status.withLock { $0 = new } }
}
