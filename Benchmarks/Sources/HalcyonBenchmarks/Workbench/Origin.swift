import AsyncHTTPClient
import Foundation
import NIOCore

/// The origin server as its clients see it.
final class Origin: Sendable {
    let baseURL: String
    private let process: ChildProcess

    init(folder: URL) async throws {
        process = try ChildProcess(Workbench.executable, ["origin", folder.path])
        let port = try await process.exchange(nil)
        baseURL = "http://127.0.0.1:\(port)"
    }

    /// A URL of a file; those with different numbers are different URLs of the same bytes.
    func url(_ file: String, _ number: Int) -> URL {
        guard let url = URL(string: "\(baseURL)/\(file)/\(number)") else {
            preconditionFailure("\(file) cannot be part of a URL")
        }
        return url
    }

    /// Requests since this was last asked.
    func requests() async throws -> Int {
        let response = try await HTTPClient.shared.execute(
            HTTPClientRequest(url: "\(baseURL)/requests"), timeout: .seconds(5))
        let body = try await response.body.collect(upTo: 100)
        guard let count = Int(String(buffer: body)) else {
            throw BenchmarkError("The origin server did not answer with a count")
        }
        return count
    }

    func close() async { await process.close() }
}
