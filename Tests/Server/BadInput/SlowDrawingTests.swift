import Foundation
import HalcyonTestKit
import Testing

/// Drawings that are within all limits, but for the time that they take, as the program meets them.
@Suite(.timeLimit(.minutes(5))) struct SlowDrawingTests: RunsTheServer {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func write(_ name: String, _ content: String) throws {
        let text = """
            <svg xmlns="http://www.w3.org/2000/svg" width="1000" height="1000">\(content)</svg>
            """
        try folder.write(Data(text.utf8), to: "pictures/\(name)")
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
        let pictures = folder.file("pictures").path
        let server = try await serve(
            "work.requestTimeout=6", "processing.svg=rasterize", "sources.local.root=\(pictures)")
        let statuses = try await withThrowingTaskGroup(of: String.self) { group in
            for index in 0..<4 {
                group.addTask { await server.status("/_/plain/local:///slow\(index).svg@png") }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        // Of those that have had to wait, some have too little time left.
        #expect(statuses.contains("422") && statuses.isSubset(of: ["422", "503"]), "\(statuses)")
        // Nothing of them is left that could keep others waiting.
        #expect(await server.status("/_/plain/local:///good.svg@png") == "200")
        #expect(await server.end() == 0)
    }
}
