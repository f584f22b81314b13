import Foundation
import HalcyonTestKit
import Testing

/// A configuration file that an earlier version of the server has printed, with a value of its own for most settings.
@Suite struct EarlierConfigurationTests: RunsTheServer {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test func everySettingMeansWhatItMeant() async throws {
        let file = SampleFile.url("EarlierState/server.json")
        let shown = try await run(["--print-config", "--config", file.path])
        #expect(shown.code == 0, "\(shown.errors)")
        let now = try settings(Data(shown.output.utf8))
        let earlier = try settings(Data(contentsOf: file))
        for (name, value) in earlier { #expect(now[name] == value, "\(name)") }
        for name in ["cache.staleIfError", "sources.freshness"] {
            #expect(now[name] == "[3601]", "\(name)")
        }
    }

    /// The values by their names, as JSON.
    private func settings(_ data: Data) throws -> [String: String] {
        var values: [String: String] = [:]
        func add(_ object: Any, _ name: String) throws {
            if let group = object as? [String: Any] {
                for (key, value) in group { try add(value, name.isEmpty ? key : "\(name).\(key)") }
            } else {
                let text = try JSONSerialization.data(withJSONObject: [object])
                values[name] = String(decoding: text, as: UTF8.self)
            }
        }
        try add(JSONSerialization.jsonObject(with: data), "")
        return values
    }
}
