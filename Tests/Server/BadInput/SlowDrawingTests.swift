import Foundation
import HalcyonTestKit
import Testing

/// Drawings that are within all limits, but for the time that they take, as the program meets them.
@Suite(.timeLimit(.minutes(5))) struct SlowDrawingTests: RunsTheServer {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func write(_ name: String, _ content: String) throws {
        let text = """
            <svg xmlns="http://www.w3.org/2000/svg" width="1000" height="1000">\(content)</svg>
            """
        try folder.write(Data(text.utf8), to: "pictures/\(name)")
    }

    private static func ask(_ name: String, _ port: Int) async throws -> String {
        try await RawClient(port: port)
            .exchange("/_/plain/local:///\(name)@png", headers: ["Connection: close"]).head
    }

    @Test func drawingsThatTakeTooLongAreRefusedAndOthersDrawn() async throws {
        for index in 0..<4 {
            try write(
                "slow\(index).svg",
                "<filter id='f'>"
                    + String(repeating: "<feMorphology radius='9'/>", count: 200 + index)
                    + "</filter>"
                    + "<rect width='999' height='999' filter='url(#f)'/>")
        }
        try write("good.svg", "<rect width='999' height='999' fill='lime'/>")
        let port = try ClosedPort(isReserved: true)
        let arguments = [
            "--unsigned", "--bind", "127.0.0.1:\(port.number)", "--ops-bind", "off", "--log-format",
            "json", "--local-root", folder.file("pictures").path, "--cache-directory",
            folder.file("cache").path, "--set", "work.requestTimeout=6", "--set",
            "processing.svg=rasterize",
        ]
        let (child, log) = try ChildLines.of { try start(arguments, errors: $0) }
        _ = try #require(await log.line(containing: "\"listening\""))
        let heads = try await withThrowingTaskGroup(of: String.self) { group in
            for index in 0..<4 {
                group.addTask { try await Self.ask("slow\(index).svg", port.number) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let statuses = Set(heads.map { $0.dropFirst(9).prefix(3) })
        // Of those that have had to wait, some have too little time left.
        #expect(statuses.contains("422") && statuses.isSubset(of: ["422", "503"]), "\(heads)")
        // Nothing of them is left that could keep others waiting.
        let good = try await Self.ask("good.svg", port.number)
        #expect(good.hasPrefix("HTTP/1.1 200"), "\(good)")
        child.send(SIGTERM)
        #expect(await child.exitCode() == 0)
    }
}
