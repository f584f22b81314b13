import Foundation

/// A Python process with one library, alive for the whole run. It answers each request, a line of
/// JSON, with a line of JSON, and times the work inside.
final class PeerWorker: Sendable {
    /// The version of the library.
    let version: String
    private let process: ChildProcess

    convenience init(_ library: PeerLibrary, python: URL, program: URL) async throws {
        try await self.init(python: python, program: program, arguments: [library.rawValue])
    }

    init(python: URL, program: URL, arguments: [String]) async throws {
        process = try ChildProcess(
            python, [program.path] + arguments, environment: Self.oneThread)
        let hello = try Self.decode(Hello.self, from: try await process.exchange(nil))
        version = hello.version
    }

    /// No library may use a second thread: the comparison is per core.
    static let oneThread = [
        "VIPS_CONCURRENCY": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
        "PYTHONUNBUFFERED": "1",
    ]

    private struct Hello: Decodable {
        let version: String
    }

    private struct Timing: Decodable {
        let wall: Double
        let cpu: Double
    }

    private struct Number: Decodable {
        let value: Double
    }

    private struct Failure: Decodable {
        let error: String
    }

    /// Does the work of `request` and tells its time.
    func time(_ request: some Encodable & Sendable) async throws -> Sample {
        let timing = try await answer(Timing.self, to: request)
        return .time(wall: timing.wall, cpu: timing.cpu)
    }

    /// Does `request`, whose answer is a number.
    func number(_ request: some Encodable & Sendable) async throws -> Double {
        try await answer(Number.self, to: request).value
    }

    func close() async { await process.close() }

    private func answer<T: Decodable>(
        _ type: T.Type, to request: some Encodable & Sendable
    ) async throws -> T {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        let line = String(decoding: try encoder.encode(request), as: UTF8.self)
        return try Self.decode(type, from: try await process.exchange(line))
    }

    private static func decode<T: Decodable>(_ type: T.Type, from line: String) throws -> T {
        let data = Data(line.utf8)
        if let failure = try? JSONDecoder().decode(Failure.self, from: data) {
            // Not being a failure is the usual case.
            throw BenchmarkError(failure.error)
        }
        return try JSONDecoder().decode(type, from: data)
    }
}

/// What a worker is asked to do; the members are those of the methods of `worker.py`.
struct PeerRequest: Encodable, Sendable {
    var command: String
    var photograph: String
    var width: Int
    var height: Int
    /// How the library is called, where there are several ways.
    var way: String?
    /// How often it is done for one time; once by default.
    var `repeat`: Int?
    /// 1…100, of a file to write.
    var quality: Int?
    /// Of a file to write: `jpg`, `png`, `webp` or `avif`.
    var format: String?
    /// The file to write, or the raw RGB pixels to judge.
    var pixels: String?
    /// By what it is judged: the raw value of `QualityClass.Measure`.
    var measure: String?
}
