public import FoundationNetworking

/// Answers servers that ask for a user name and a password.
///
/// Asked for answers of status 401 in the schemes `Basic` (RFC 7617) and `Digest` (RFC 7616: MD5 or
/// SHA-256, `qop=auth`); tokens of the `Bearer` scheme are set by a request modifier. What the
/// responder gives is sent to the origin that asked for it, never to another after a redirect.
///
/// Differences from Kingfisher: the task is Halcyon's, because no `URLSessionTask` is behind a
/// download, and there is no method for challenges of the session: `URLAuthenticationChallenge`
/// cannot carry certificates on Linux. Whether a server is trusted is decided by
/// `ImageDownloader.serverTrustEvaluator` and `trustedHosts`; this program's own certificate is
/// `ImageDownloader.clientCertificate`.
public protocol AuthenticationChallengeResponsible: AnyObject {
    /// What to answer a challenge with. Called once for each challenge; when a server refuses the
    /// answer its next challenge has a higher `previousFailureCount`. A nonce that has become stale
    /// is renewed without asking. After five answers in one download the response with status 401
    /// is the result. The time until this method returns counts for `maximumDownloadDuration`, not
    /// for `downloadTimeout`.
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
