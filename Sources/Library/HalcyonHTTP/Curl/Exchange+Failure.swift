import CHTTP
import Foundation

extension Exchange {
    func error(of code: CURLcode) -> TransportError {
        let host = request.host
        let hasHead = !header.isEmpty
        let systemError = Int32(handle?.long(CURLINFO_OS_ERRNO) ?? 0)
        let text = handle?.errorMessage ?? ""
        let message = text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
        let reason = Self.reason(message, systemError)
        let systemReason = systemError == 0 ? reason : String(cString: strerror(systemError))
        // libcurl's own words for these are about memory and disks.
        if times?.answered != nil {
            if code == CURLE_WRITE_ERROR, decoder != nil {
                return .undecodableBody(
                    url: url, reason: "more follows the end of its encoded content")
            }
        } else if times?.sent != nil {
            if code == CURLE_OUT_OF_MEMORY || code == Self.tooLarge {
                return .invalidResponse(url: url, reason: "a line of its header is too long")
            }
        } else if Self.hasNoDescriptor {
            // Any use of a descriptor: a socket, a name lookup, a certificate.
            return .cannotConnect(host: host, reason: String(cString: strerror(EMFILE)))
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
        case CURLE_COULDNT_CONNECT where systemError == ECONNREFUSED:
            return .connectionRefused(host: host, reason: systemReason)
        case CURLE_COULDNT_CONNECT where systemError != ETIMEDOUT:
            return .cannotConnect(host: host, reason: systemReason)
        case CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT:
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

    private static var hasNoDescriptor: Bool {
        let probe = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard probe >= 0 else { return errno == EMFILE || errno == ENFILE }
        close(probe)
        return false
    }

    private static func reason(_ message: String, _ systemError: Int32) -> String {
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
