import Foundation
import Glibc

/// nginx serving the photographs over TLS, with a certificate of its own that was made for the run:
/// HTTP/1.1 on one port, HTTP/2 on another.
final class SecureOrigin: Sendable {
    enum Version: String, Sendable, CaseIterable {
        case http1 = "HTTPS"
        case http2 = "HTTP/2"
    }

    /// The file of the certificate, which is also its own root.
    let certificate: URL
    private let ports: [Version: Int]
    private let configuration: URL
    private let server: ChildProcess

    /// - Parameter folder: An empty one, for what nginx writes.
    init(serving files: URL, in folder: URL) async throws {
        certificate = folder.appending(path: "certificate.pem")
        let key = folder.appending(path: "key.pem")
        configuration = folder.appending(path: "nginx.conf")
        ports = try Dictionary(
            uniqueKeysWithValues: Version.allCases.map { ($0, try Self.unusedPort()) })
        _ = try await ChildProcess.output(
            of: URL(filePath: "/usr/bin/env"),
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                "-keyout", key.path, "-out", certificate.path,
            ])
        let text = Self.configuration(
            ports: ports, files: files.path(percentEncoded: false), folder: folder.path, key: key)
        try Data(text.utf8).write(to: configuration)
        // Debian has it where only root looks.
        server = try ChildProcess(
            URL(filePath: "/usr/bin/env"),
            [
                "PATH=/usr/bin:/usr/sbin:/bin", "nginx", "-q", "-g", "daemon off;", "-c",
                configuration.path,
            ])
        for port in ports.values { try await Self.waitUntilListened(to: port) }
    }

    /// A URL of a file; those with different numbers are different URLs of the same bytes.
    func url(_ file: String, _ number: Int, over version: Version) -> URL {
        guard let url = URL(string: "\(base(version))/\(file)/\(number)") else {
            preconditionFailure("\(file) cannot be part of a URL")
        }
        return url
    }

    /// The URLs with the numbers 0 to `count` - 1 as a pattern of curl's.
    func pattern(_ file: String, _ count: Int, over version: Version) -> String {
        "\(base(version))/\(file)/[0-\(count - 1)]"
    }

    func close() async {
        await server.terminate()
    }

    private func base(_ version: Version) -> String {
        "https://localhost:\(ports[version] ?? 0)"
    }

    private static func waitUntilListened(to port: Int) async throws {
        for _ in 0..<500 {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { Glibc.close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
            address.sin_port = in_port_t(UInt16(port).bigEndian)
            let length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isListened = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, length) == 0
                }
            }
            if isListened { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw BenchmarkError("nginx does not listen")
    }

    /// A port that nobody listens on now.
    private static func unusedPort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { Glibc.close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let found = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard found else { throw BenchmarkError("There is no port for nginx") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    private static func configuration(
        ports: [Version: Int], files: String, folder: String, key: URL
    ) -> String {
        let servers = Version.allCases.map { version in
            """
                server {
                    listen 127.0.0.1:\(ports[version] ?? 0) ssl\(version == .http2 ? " http2" : "");
                    root \(files);
                    rewrite ^/([^/]+)/[0-9]+$ /$1 break;
                }
            """
        }
        return """
            \(getuid() == 0 ? "user root;" : "")
            worker_processes 1;
            pid \(folder)/nginx.pid;
            error_log \(folder)/error.log;
            events { worker_connections 1024; }
            http {
                access_log off;
                types { image/jpeg jpg; }
                client_body_temp_path \(folder);
                proxy_temp_path \(folder);
                fastcgi_temp_path \(folder);
                uwsgi_temp_path \(folder);
                scgi_temp_path \(folder);
                keepalive_requests 100000000;
                tcp_nodelay on;
                open_file_cache max=100;
                ssl_certificate \(folder)/certificate.pem;
                ssl_certificate_key \(key.path);
            \(servers.joined(separator: "\n"))
            }

            """
    }
}
