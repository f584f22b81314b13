import HalcyonHTTP
import HalcyonServerURLs

extension ServerRequest {
    /// The request as its first trusted proxy got it.
    ///
    /// - Parameter proxies: Networks whose words count. The connection has to come from one of them, and of
    ///   the addresses that were passed through the last one that is none of them is the client's.
    func believing(_ proxies: [IPNetwork]) -> ServerRequest {
        func isTrusted(_ text: String) -> Bool {
            // A listener of IPv6 gives the peers of IPv4 addresses of its own kind.
            let isMapped = text.lowercased().hasPrefix("::ffff:") && text.contains(".")
            let address = IPAddress(isMapped ? String(text.dropFirst(7)) : text)
            return address.map { address in proxies.contains { $0.contains(address) } } ?? false
        }
        guard !proxies.isEmpty, let peer, isTrusted(peer) else { return self }
        var request = self
        request.forwarded = PublicAddress.Forwarded(values: fields.values)
        let clients = PublicAddress.Forwarded.clients(values: fields.values)
        // What is no address ends the part of the list that can be believed.
        var client = peer
        for address in clients.reversed() {
            guard let address, IPAddress(address) != nil else { break }
            client = address
            if !isTrusted(address) { break }
        }
        request.peer = client
        return request
    }
}
