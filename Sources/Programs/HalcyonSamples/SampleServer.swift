public import Foundation
import Synchronization

/// A small HTTP server on this machine, for demonstrations of fast, slow and faulty responses.
///
/// It speaks HTTP/1.1 without TLS, on loopback only, with a thread for each connection. It stops
/// with `stop()` or when its last reference is released.
public final class SampleServer: Sendable {
    private struct State {
        var routes: [String: [SampleAnswer]] = [:]
        var folders: [String: URL] = [:]
        var requestCount = 0
        var connections: Set<Int32> = []
        var isStopped = false
    }

    /// `http://127.0.0.1:port`.
    public let baseURL: URL
    private let listener: Int32
    private let state = Mutex(State())

    /// Starts a server on any free port.
    public init() throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { [listener] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) | listen(listener, 128) | getsockname(listener, $0, &size)
            }
        }
        let port = in_port_t(bigEndian: address.sin_port)
        guard listener >= 0, result == 0, let url = URL(string: "http://127.0.0.1:\(port)") else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EADDRNOTAVAIL)
        }
        baseURL = url
        // The thread does not retain the server, so that it stops with its last reference.
        Thread { [listener, weak self] in
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                // Child processes do not inherit connections.
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                // A header does not wait for its body.
                var enabled: Int32 = 1
                setsockopt(
                    connection, Int32(IPPROTO_TCP), TCP_NODELAY, &enabled,
                    socklen_t(MemoryLayout<Int32>.size))
                guard let self, open(connection) else {
                    close(connection)
                    continue
                }
                Thread { [weak self] in
                    SampleConnection(descriptor: connection).serve { self?.answer(to: $0) }
                    self?.forget(connection)
                    close(connection)
                }.start()
            }
            close(listener)
        }.start()
    }

    deinit {
        stop()
    }

    /// Stops listening and ends all connections.
    public func stop() {
        let connections = state.withLock { state in
            guard !state.isStopped else { return Set<Int32>() }
            state.isStopped = true
            return state.connections
        }
        shutdown(listener, Int32(SHUT_RDWR))
        for connection in connections { shutdown(connection, Int32(SHUT_RDWR)) }
    }

    /// The number of received requests, whatever their response.
    public var requestCount: Int { state.withLock { $0.requestCount } }

    /// The URL of `path`.
    public func url(_ path: String) -> URL {
        let query = path.split(separator: "?", maxSplits: 1).dropFirst().first
        let url = baseURL.appendingPathComponent(String(path.prefix { $0 != "?" }))
        return query.flatMap { URL(string: "\(url.absoluteString)?\($0)") } ?? url
    }

    /// Answers the requests for `path` with one of `answers` each, in order; the last one is
    /// repeated. The query is ignored.
    public func route(_ path: String, _ answers: SampleAnswer...) {
        state.withLock { $0.routes[path] = answers }
    }

    /// Serves the files in `folder` and below, under `path`; nothing outside can be reached.
    public func serve(_ folder: URL, under path: String) {
        state.withLock { $0.folders[path + "/"] = folder }
    }

    // MARK: - On the threads of connections

    private func open(_ connection: Int32) -> Bool {
        state.withLock { state in
            if !state.isStopped { state.connections.insert(connection) }
            return !state.isStopped
        }
    }

    /// To be called before `connection` is closed, as its descriptor may be reused then.
    private func forget(_ connection: Int32) {
        _ = state.withLock { $0.connections.remove(connection) }
    }

    private func answer(to path: String) -> SampleAnswer {
        let (answer, folders) = state.withLock { state -> (SampleAnswer?, [String: URL]) in
            state.requestCount += 1
            guard let answers = state.routes[path], let answer = answers.first else {
                return (nil, state.folders)
            }
            if answers.count > 1 { state.routes[path]?.removeFirst() }
            return (answer, [:])
        }
        if let answer { return answer }
        for (prefix, folder) in folders where path.hasPrefix(prefix) {
            let parts = path.dropFirst(prefix.count).split(separator: "/")
            guard !parts.contains(".."), !path.contains("\0") else { continue }
            let file = folder.appendingPathComponent(parts.joined(separator: "/"))
            // A missing or unreadable file is answered like any other unknown path.
            guard let data = try? Data(contentsOf: file) else { continue }
            return SampleAnswer(data)
        }
        return .missing
    }
}
