import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL

extension ImageTransportError {
    /// What an error of AsyncHTTPClient, NIO or the system means.
    init(_ error: any Error, url: String, host: String) {
        switch error {
        case let error as ImageTransportError:
            self = error
        case let error as HTTPClientError:
            self.init(error, url: url, host: host)
        case let error as NIOConnectionError:
            self.init(connecting: error, host: host)
        case let error as NIOSSLError:
            self = .init(tls: error, url: url, host: host)
        case is NIOSSLExtraError, is BoringSSLError:
            self = .tls(host: host, reason: "\(error)")
        case let error as IOError:
            self = .init(error, url: url, host: host)
        case let error as HTTPParserError:
            self =
                error == .invalidEOFState
                ? .connectionReset(url: url, reason: "it was closed early")
                : .invalidResponse(url: url, reason: "\(error)")
        case NIOHTTPDecompression.DecompressionError.limit:
            self = .undecodableBody(url: url, reason: "it is larger than the limit once unpacked")
        case is NIOHTTPDecompression.DecompressionError,
            is NIOHTTPDecompression.ExtraDecompressionError:
            self = .undecodableBody(url: url, reason: "\(error)")
        case ChannelError.connectTimeout:
            self = .timedOut(.connect, url: url)
        case is ChannelError:
            self = .connectionReset(url: url, reason: "\(error)")
        default:
            self = .other(url: url, reason: "\(error)")
        }
    }

    /// Whether the other side ended the connection in the middle of an answer.
    static func isEarlyEnd(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPClientError: error == .remoteConnectionClosed
        case let error as HTTPParserError: error == .invalidEOFState
        case let error as NIOSSLError: if case .uncleanShutdown = error { true } else { false }
        default: false
        }
    }

    private init(_ error: HTTPClientError, url: String, host: String) {
        switch error {
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout:
            self = .timedOut(.connect, url: url)
        case .deadlineExceeded:
            self = .timedOut(.total, url: url)
        case .readTimeout, .writeTimeout:
            self = .timedOut(.stall, url: url)
        case .remoteConnectionClosed:
            self = .connectionReset(url: url, reason: "the server closed it")
        case .invalidURL, .emptyHost, .emptyScheme:
            self = .unsupportedURL(url)
        default:
            let reason = error.shortDescription
            self =
                reason.hasPrefix("Invalid header")
                ? .invalidRequest(url: url, reason: "\(error)") : .other(url: url, reason: reason)
        }
    }

    private init(connecting error: NIOConnectionError, host: String) {
        if let failure = error.connectionErrors.first?.error {
            let translated = (failure as? IOError).map {
                ImageTransportError($0, url: host, host: host)
            }
            switch translated {
            case .connectionRefused?, .cannotConnect?, .timedOut?:
                self = translated ?? .cannotConnect(host: host, reason: "\(failure)")
            default:
                self = .cannotConnect(host: host, reason: "\(failure)")
            }
        } else {
            let reason = error.dnsAError ?? error.dnsAAAAError
            self = .cannotResolveHost(host: host, reason: reason.map { "\($0)" } ?? "no address")
        }
    }

    private init(tls error: NIOSSLError, url: String, host: String) {
        if case .uncleanShutdown = error {
            self = .connectionReset(url: url, reason: "TLS was not closed in order")
        } else {
            self = .tls(host: host, reason: "\(error)")
        }
    }

    private init(_ error: IOError, url: String, host: String) {
        let reason = String(cString: strerror(error.errnoCode))
        switch error.errnoCode {
        case ECONNREFUSED: self = .connectionRefused(host: host, reason: reason)
        case ETIMEDOUT: self = .timedOut(.connect, url: url)
        case EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL:
            self = .cannotConnect(host: host, reason: reason)
        default: self = .connectionReset(url: url, reason: reason)
        }
    }
}
