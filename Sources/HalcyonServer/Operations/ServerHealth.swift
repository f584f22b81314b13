import Foundation
import FoundationNetworking
import HalcyonHTTP

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
        // Whatever went wrong, it is not ready.
        let answer = try? await CurlTransport.shared(for: client).answer(
            to: URLRequest(url: url),
            terms: ExchangeTerms(stall: .seconds(2), deadline: deadline), limit: 1 << 20)
        return answer?.head.status == 200
    }
}
