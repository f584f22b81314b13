import Foundation
import HalcyonWork
import Testing

@testable import HalcyonServer

/// The guide to the server says what there is.
@Suite struct GuideTests {
    private let guide: ServerGuide
    private let settings: [[String]]

    init() throws {
        guide = try ServerGuide()
        settings = guide.rows(below: "setting")
    }

    @Test func itHasEachSettingOnce() {
        #expect(settings.map { ServerGuide.code(in: $0[0]) } == Setting.all.map { [$0.name] })
    }

    @Test func itTellsTheDefaultOfEachSetting() {
        let usual = ImageServerConfiguration()
        for (row, setting) in zip(settings, Setting.all) {
            let value = setting.value(usual)
            #expect(Self.says(row[1], value), "\(setting.name) is \(value), not \(row[1])")
        }
        #expect(!Self.says("5", .number(6)) && !Self.says("none", .number(0)))
        #expect(!Self.says("5", .none) && !Self.says("80, 443", .list([.number(80)])))
    }

    /// Whether `cell` means `value`. What a setting without a value does may be said in any words.
    private static func says(_ cell: String, _ value: SettingValue) -> Bool {
        let text = cell.replacing("`", with: "")
        switch value {
        case .none: return number(text) == nil && !["true", "false"].contains(text)
        case .flag(let flag): return text == "\(flag)"
        case .number(let wanted): return number(text) == wanted
        case .text(let wanted): return text == (wanted.isEmpty ? "none" : wanted)
        case .list([]): return text == "none"
        case .list(let values):
            let parts = text.components(separatedBy: ", ")
            let ends = text.components(separatedBy: " … ")
            // Of many the first and the last.
            if ends.count == 2 { return says(ends[0], values[0]) && says(ends[1], values.last!) }
            return parts.count == values.count && zip(parts, values).allSatisfy(says)
        case .table(let table):
            let pairs = text.components(separatedBy: ", ").map { $0.components(separatedBy: " ") }
            return pairs.count == table.count
                && pairs.allSatisfy { pair in
                    pair.count == 2 && table[pair[0]].map { says(pair[1], $0) } == true
                }
        }
    }

    /// The number that a text means; times are in seconds.
    private static func number(_ text: String) -> Double? {
        let units = [
            "": 1.0, " KiB": 1024, " MiB": 1_048_576, " GiB": 1_073_741_824, " million": 1_000_000,
            " days": 86400, " for each core": Double(Processors.count),
        ]
        let words = ["cores": Double(Processors.count), "a day": 86400, "a year": 365 * 86400.0]
        guard let match = text.wholeMatch(of: /([0-9.]+)( .+)?/) else { return words[text] }
        guard let unit = units[String(match.2 ?? "")] else { return nil }
        return Double(match.1).map { $0 * unit }
    }

    @Test func itHasEachCodeOfAnErrorThatClientsGet() {
        let codes = guide.rows(below: "status").flatMap { ServerGuide.code(in: $0[1]) }
        let known = Set(ServerFailure.all.map(\.code)).subtracting(["client_gone"])
        #expect(codes.count == known.count && Set(codes) == known)
    }

    @Test func eachSettingHasAVariableOfItsOwn() {
        #expect(Set(Setting.all.map(\.variable)).count == Setting.all.count)
        let names = Setting.all.filter { $0.name == "limits.maxURLLength" }.map(\.variable)
        #expect(names == ["HALCYON_LIMITS_MAX_URL_LENGTH"])
    }

    @Test(arguments: [
        "Dockerfile", "docs/server/compose.yaml", "docs/server/kubernetes.yaml",
        "docs/server/cluster/compose.yaml", "docs/server/cluster/halcyon-server@.service",
    ])
    func theFilesForServersNameSettingsThatThereAre(file: String) throws {
        let text = try ServerGuide.text(file)
        // Not those that the reader has to give: `${HALCYON_KEY:?}`.
        let setting = /(?:^|[ =])(HALCYON_[A-Z0-9_]+)(?:[:=]|$)/.anchorsMatchLineEndings()
        let names = text.matches(of: setting).map { String($0.1) }
        #expect(!names.isEmpty)
        let known = Set(Setting.all.map(\.variable))
        #expect(names.filter { !known.contains($0) } == [])
    }
}
