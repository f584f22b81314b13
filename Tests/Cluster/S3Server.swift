import Foundation
import HalcyonTestKit

/// A store of Amazon's protocol with a bucket `pictures`: SeaweedFS (`weed`), which also checks signatures, or moto
/// (`moto_server`), where either is installed or `scripts/cluster-test` has brought it.
final class S3Server: Sendable {
    enum Maker: String, Sendable {
        case weed, moto = "moto_server"

        fileprivate var program: String? {
            let brought = URL(fileURLWithPath: #filePath).appendingPathComponent(
                "../../../.build/cluster-test/bin"
            ).standardized.path
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            return ([brought] + path.split(separator: ":").map(String.init))
                .map { "\($0)/\(rawValue)" }
                .first { FileManager.default.isExecutableFile(atPath: $0) }
        }
    }

    /// Whether there is one; of SeaweedFS alone, whether that is there.
    static func isInstalled(checkingKeys: Bool = false) -> Bool {
        Maker.weed.program != nil || !checkingKeys && Maker.moto.program != nil
    }

    static let (accessKey, secretKey) = ("halcyon", "s3cret")
    static let bucket = "pictures"

    let endpoint: URL
    private let folder: TemporaryDirectory
    private let child: ChildProcess
    private let log: ChildLines
    /// Nobody else is given these.
    private let ports: [ClosedPort]

    /// Starts it, and returns when the bucket is there.
    static func start() async throws -> S3Server {
        let server = try S3Server()
        // Its parts start one after the other, and nothing in its log says that all are there.
        // 409: it is there from the try before.
        while try await !["200", "409"].contains(server.curl("-X", "PUT", server.url(""))) {
            guard server.child.isRunning else {
                throw POSIXError(.ECHILD, userInfo: ["log": server.log.all.suffix(5)])
            }
            await pause()
        }
        return server
    }

    private init() throws {
        folder = try TemporaryDirectory(prefix: "store")
        let maker = Maker.weed.program == nil ? Maker.moto : .weed
        let names = ["s3", "master", "volume", "filer"]
        let ports = try names.flatMap { _ in
            [try ClosedPort(isReserved: true), try ClosedPort(isReserved: true)]
        }
        self.ports = ports
        endpoint = ports[0].url("")
        var arguments = ["-H", "127.0.0.1", "-p", "\(ports[0].number)"]
        if maker == .weed {
            let keys = """
                {"identities": [{"name": "halcyon", "actions": ["Admin", "Read", "Write", "List"],
                  "credentials": [{"accessKey": "\(Self.accessKey)", "secretKey": "\(Self.secretKey)"}]}]}
                """
            let file = try folder.write(Data(keys.utf8), to: "keys.json")
            arguments = [
                "server", "-dir=\(folder.url.path)", "-ip=127.0.0.1", "-s3",
                "-s3.config=\(file.path)", "-s3.port.iceberg=0", "-s3.port.lance=0",
                "-volume.max=8", "-master.volumeSizeLimitMB=64",
            ]
            for (number, name) in names.enumerated() {
                arguments.append("-\(name).port=\(ports[2 * number].number)")
                arguments.append("-\(name).port.grpc=\(ports[2 * number + 1].number)")
            }
        }
        let program = maker.program ?? maker.rawValue
        let input = open("/dev/null", O_RDONLY)
        defer { close(input) }
        (child, log) = try ChildLines.of { [arguments] in
            try ChildProcess(
                executable: program, arguments: arguments, standardInput: input,
                standardOutput: $0, standardError: $0)
        }
    }

    deinit { child.send(SIGKILL) }

    /// The address of an object.
    func url(_ name: String) -> String {
        "\(endpoint.absoluteString)/\(Self.bucket)" + (name.isEmpty ? "" : "/\(name)")
    }

    func names() async throws -> [String] {
        let listing = folder.file("listing").path
        _ = try await curl("-o", listing, url(""))
        let text = try String(contentsOfFile: listing, encoding: .utf8)
        return text.matches(of: /<Key>([^<]*)<\/Key>/).map { String($0.1) }
    }

    /// Puts something else in the place of an object, and leaves what is said of it as it was.
    func damage(_ name: String) async throws {
        let (head, body) = (folder.file("head").path, folder.file("body").path)
        _ = try await curl("-D", head, "-o", body, url(name))
        var bytes = try Data(contentsOf: URL(fileURLWithPath: body))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(fileURLWithPath: body))
        let fields = try String(contentsOfFile: head, encoding: .utf8)
            .split(whereSeparator: \.isNewline)
            .filter { $0.lowercased().hasPrefix("x-amz-meta-") }
            .flatMap { ["-H", String($0)] }
        _ = try await curl(["-T", body] + fields + [url(name)])
    }

    /// The status that a signed request was answered with; 000 without an answer.
    private func curl(_ arguments: String...) async throws -> String { try await curl(arguments) }

    private func curl(_ arguments: [String]) async throws -> String {
        let input = open("/dev/null", O_RDONLY)
        defer { close(input) }
        let output = arguments.contains("-o") ? [] : ["-o", "/dev/null"]
        let (child, lines) = try ChildLines.of {
            try ChildProcess(
                executable: "/usr/bin/curl",
                arguments: [
                    "-s", "-w", "status %{http_code}\n", "--noproxy", "*", "--aws-sigv4",
                    "aws:amz:us-east-1:s3", "-u", "\(Self.accessKey):\(Self.secretKey)", "-H",
                    "x-amz-content-sha256: UNSIGNED-PAYLOAD",
                ] + output + arguments, standardInput: input, standardOutput: $0,
                standardError: input)
        }
        _ = await child.exitCode()
        let line = await lines.line(containing: "status ")
        return String(line?.suffix(3) ?? "000")
    }
}
