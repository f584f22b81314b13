import HalcyonHTTP
import HalcyonServerURLs

/// The part of this server's URLs before their paths, as clients see it.
struct PublicAddresses: Sendable {
    /// As the settings say, with its path; `nil` to take it from requests.
    let configured: String?
    /// The prefix of all public paths, with a slash before it and none behind.
    let prefix: String

    /// Returns the address with the prefix of the server.
    ///
    /// - Parameter mount: The path of an application around the server.
    func base(of request: ServerRequest, mount: String = "") throws(Failure) -> String {
        try Failure.ofPlan { () throws(PlanError) in
            try PublicAddress.base(
                configured: configured, forwarded: request.forwarded,
                host: request.fields.values("Host"))
                + (configured == nil ? mount + prefix : "")
        }
    }
}
