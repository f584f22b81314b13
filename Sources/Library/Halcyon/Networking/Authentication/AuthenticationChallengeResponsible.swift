public import FoundationNetworking

/// Supplies user names and passwords for servers that require them.
///
/// Called for responses with status 401 in the schemes `Basic` (RFC 7617) and `Digest` (RFC 7616:
/// MD5 or SHA-256, `qop=auth`); tokens of the `Bearer` scheme are set by a request modifier.
/// Credentials are sent only to the origin that asked for them, never to another one after a
/// redirect.
///
/// Differences from Kingfisher: the task is Halcyon's, because no `URLSessionTask` is behind a
/// download, and there is no method for challenges of the session: `URLAuthenticationChallenge`
/// cannot carry certificates on Linux. Whether a server is trusted is decided by
/// `ImageDownloader.serverTrustEvaluator` and `trustedHosts`; this program's own certificate is
/// `ImageDownloader.clientCertificate`.
public protocol AuthenticationChallengeResponsible: AnyObject {
    /// Returns the answer to a challenge. Called once for each challenge; if the server refuses the
    /// credentials, its next challenge has a higher `previousFailureCount`. A stale nonce is
    /// renewed without a call. After five answers in one download the response with status 401 is
    /// the result. The duration of this method counts for `maximumDownloadDuration`, not for
    /// `downloadTimeout`.
    ///
    /// - Returns: `.useCredential` and a credential with user and password sends them. With
    ///   `.rejectProtectionSpace` the next scheme that the server offers is tried.
    ///   `.cancelAuthenticationChallenge` fails the download with
    ///   `ImageTransportError.authenticationCancelled`. Everything else, and the default, takes the
    ///   response with status 401 as the result.
    func downloader(
        _ downloader: ImageDownloader, task: SessionDataTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)
}

extension AuthenticationChallengeResponsible {
    public func downloader(
        _ downloader: ImageDownloader, task: SessionDataTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        (.performDefaultHandling, nil)
    }
}

/// The protocol's former name.
@available(*, deprecated, renamed: "AuthenticationChallengeResponsible")
public typealias AuthenticationChallengeResponsable = AuthenticationChallengeResponsible
