import Foundation
package import HalcyonServerPlans

extension ImageServer {
    /// Forgets a picture of another server here and at all servers that share a Redis with this one: it is
    /// fetched again before anything is made of it, or answered from what was made.
    ///
    /// - Returns: Whether all are told: always for a server that shares nothing, not when Redis could not be
    ///   asked, or when there is none beside the store of bytes.
    /// - Throws: `PlanError` when `source` is no source that may be fetched.
    @discardableResult
    package func forget(source: String) async throws(PlanError) -> Bool {
        guard case .http(let url) = try sources.policy.reference(source),
            let url = URL(string: url.text)
        else {
            throw PlanError(.unknownScheme, "Only sources of other servers are remembered.")
        }
        let key = RemoteSource.key(of: url)
        let isTold = await cluster?.forget(source: key) ?? true
        await sources.remote?.forget(key)
        return isTold
    }
}
