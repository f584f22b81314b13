import CHTTP
import Foundation

/// The reason why libcurl ended a transfer.
struct CurlFailure {
    private let code: CURLcode
    private let systemError: Int32
    private let message: String
    private let hasHead: Bool
    private let stage: Stage

    /// The progress of a transfer.
    enum Stage {
        case connecting
        /// The request was sent.
        case header
        case body(isEncoded: Bool)
    }

    /// - Parameter hasHead: Whether anything of the response had arrived.
    init(_ code: CURLcode, of handle: EasyHandle?, hasHead: Bool, stage: Stage) {
        self.code = code
        self.hasHead = hasHead
        self.stage = stage
        systemError = Int32(handle?.long(CURLINFO_OS_ERRNO) ?? 0)
        let text = handle?.errorMessage ?? ""
        message = text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
    }

    /// Converts the failure to a `TransportError`. `received` and `expected` are bytes of the body.
    func error(_ request: OutgoingRequest, received: Int64, expected: Int64?) -> TransportError {
        let (url, host) = (request.url.absoluteString, request.host)
        // libcurl's own words for these are about memory and disks.
        switch (stage, code) {
        case (.header, CURLE_OUT_OF_MEMORY), (.header, Self.tooLarge):
            return .invalidResponse(url: url, reason: "a line of its header is too long")
        case (.body(isEncoded: true), CURLE_WRITE_ERROR):
            return .undecodableBody(url: url, reason: "more follows the end of its encoded content")
        case (.connecting, _) where Self.hasNoDescriptor:
            // Any use of a descriptor: a socket, a name lookup, a certificate.
            return .cannotConnect(host: host, reason: String(cString: strerror(EMFILE)))
        default: break
        }
        switch code {
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_WEIRD_SERVER_REPLY:
            // The first two mean the URL only before there is an answer.
            return code == CURLE_URL_MALFORMAT
                ? .unsupportedURL(url) : .invalidResponse(url: url, reason: reason)
        case CURLE_COULDNT_RESOLVE_HOST:
            return .cannotResolveHost(host: host, reason: "no address is known for it")
        case CURLE_COULDNT_RESOLVE_PROXY:
            return .cannotConnect(host: host, reason: "no address is known for its proxy")
        case CURLE_COULDNT_CONNECT:
            return connecting(host: host, url: url)
        case CURLE_OPERATION_TIMEDOUT:
            return .timedOut(.connect, url: url)
        case CURLE_PARTIAL_FILE:
            return .incompleteBody(
                url: url, received: expected == nil ? nil : received, expected: expected)
        case CURLE_GOT_NOTHING:
            return .connectionReset(url: url, reason: "the server closed it")
        case CURLE_BAD_CONTENT_ENCODING:
            return .undecodableBody(url: url, reason: "it is not what its content encoding says")
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_CLIENTCERT,
            CURLE_SSL_ENGINE_INITFAILED:
            return .tls(host: host, reason: reason)
        case CURLE_RECV_ERROR where !hasHead && message.contains("alert"):
            // Since TLS 1.3 a server refuses a client's certificate after the client is done.
            return .tls(host: host, reason: reason)
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            return .connectionReset(url: url, reason: reason)
        default:
            return hasHead
                ? .connectionReset(url: url, reason: reason) : .other(url: url, reason: reason)
        }
    }

    /// CURLE_TOO_LARGE, which headers have since 8.6.
    private static let tooLarge = CURLcode(rawValue: 100)

    /// Whether the process has reached its limit of open files.
    private static var hasNoDescriptor: Bool {
        let probe = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard probe >= 0 else { return errno == EMFILE || errno == ENFILE }
        close(probe)
        return false
    }

    private func connecting(host: String, url: String) -> TransportError {
        guard systemError != 0 else { return .cannotConnect(host: host, reason: reason) }
        let reason = String(cString: strerror(systemError))
        return switch systemError {
        case ECONNREFUSED: .connectionRefused(host: host, reason: reason)
        case ETIMEDOUT: .timedOut(.connect, url: url)
        default: .cannotConnect(host: host, reason: reason)
        }
    }

    /// The message without the names of library functions.
    private var reason: String {
        if systemError == ECONNRESET || systemError == EPIPE {
            return String(cString: strerror(systemError))
        }
        // "OpenSSL SSL_read: error:0A000412:SSL routines::tlsv1 alert bad certificate, errno 0"
        guard message.contains("SSL_") || message.contains("error:") else { return message }
        if let last = message.range(of: "::", options: .backwards) {
            let text = message[last.upperBound...]
            return String(text.prefix { $0 != "," })
        }
        return "TLS ended too early"
    }
}
