import CCurl
import Foundation

/// Programs that this one starts get no sockets.
private let closesOnExec = Int32(SOCK_CLOEXEC.rawValue)

/// The two ends of a TCP connection.
struct ConnectionEnds: Hashable {
    let remoteAddress: String
    let remotePort: Int32
    let localAddress: String
    let localPort: Int32
}

extension Exchange {
    /// Has libcurl tell this exchange of what happens to its transfer.
    func setCallbacks(of handle: EasyHandle) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        handle.set(CURLOPT_HEADERDATA, context)
        handle.set(CURLOPT_WRITEDATA, context)
        handle.set(CURLOPT_PREREQDATA, context)
        ccurl_set_data_function(handle.pointer, CURLOPT_HEADERFUNCTION) {
            bytes, size, count, context in
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return Exchange.of(context).headerArrived(line) ? line.count : 0
        }
        ccurl_set_data_function(handle.pointer, CURLOPT_WRITEFUNCTION) {
            bytes, size, count, context in
            let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return switch Exchange.of(context).bodyArrived(piece) {
            case .goOn: piece.count
            case .wait: Int(CURL_WRITEFUNC_PAUSE)
            // Anything but the count; of an empty piece there is nothing else to say.
            case .stop: piece.isEmpty ? 1 : 0
            }
        }
        if configuration.restrictsAddresses {
            handle.set(CURLOPT_OPENSOCKETDATA, context)
            ccurl_set_socket_function(handle.pointer) { context, _, wanted in
                guard let wanted else { return CURL_SOCKET_BAD }
                let kind = wanted.pointee
                let address = withUnsafePointer(to: &wanted.pointee.addr) { IPAddress($0) }
                guard Exchange.of(context).mayConnect(to: address) else { return CURL_SOCKET_BAD }
                return socket(kind.family, kind.socktype | closesOnExec, kind.protocol)
            }
        }
        ccurl_set_request_function(handle.pointer) {
            context, remote, local, remotePort, localPort in
            let ends = ConnectionEnds(
                remoteAddress: remote.map { String(cString: $0) } ?? "", remotePort: remotePort,
                localAddress: local.map { String(cString: $0) } ?? "", localPort: localPort)
            return Exchange.of(context).requestLeaves(to: ends)
                ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> Exchange {
        // Set above, and kept by the loop until the transfer is removed.
        Unmanaged<Exchange>.fromOpaque(context!).takeUnretainedValue()
    }
}
