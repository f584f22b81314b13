import Foundation
import Testing

@testable import HalcyonServer

/// The guide to the server says what there is.
@Suite struct GuideTests {
    private let guide: String

    init() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("docs/server.md")
        guide = try String(contentsOf: file, encoding: .utf8)
    }

    @Test func itHasEachSettingOnce() {
        let rows = guide.matches(of: /\n\| `([a-zA-Z0-9.]+)` \| [^\n]+ \| [^\n]*\|/).map {
            String($0.1)
        }
        #expect(rows == Setting.all.map(\.name))
    }

    @Test func eachSettingHasAVariableOfItsOwn() {
        #expect(Set(Setting.all.map(\.variable)).count == Setting.all.count)
        let names = Setting.all.filter { $0.name == "limits.maxURLLength" }.map(\.variable)
        #expect(names == ["HALCYON_LIMITS_MAX_URL_LENGTH"])
    }

    @Test(arguments: ["compose.yaml", "halcyon-server@.service"])
    func theFilesForSeveralServersNameSettingsThatThereAre(file: String) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appendingPathComponent("docs/cluster/\(file)"), encoding: .utf8)
        // Not those that the reader has to give: `${HALCYON_KEY:?}`.
        let names = text.matches(of: /(?:^|[ =])(HALCYON_[A-Z0-9_]+)[:=]/.anchorsMatchLineEndings())
            .map { String($0.1) }
        #expect(!names.isEmpty)
        let known = Set(Setting.all.map(\.variable))
        #expect(names.filter { !known.contains($0) } == [])
    }
}
