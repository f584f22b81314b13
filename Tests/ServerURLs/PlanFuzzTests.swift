import HalcyonServerURLs
import HalcyonTestKit
import Testing

/// No text makes a parser stop, and what is read can be written and read again.
struct PlanFuzzTests {
    private static let seeds =
        OptionTests.settings.map { "/\($0.0)/plain/http://example.com/a.jpg@png" } + [
            "/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png",
            "/plain/https%3A%2F%2Fexample.com%2Fa%20b.jpg%3Fx%3D1%26y%3D%2540@png",
            "/c:0.3:0.7:fp:0.2:0.9/ex:1:no:5/exar:1/trim:5:fff/pd:1:2:3:4/wm:0.3:re:4:4/plain/local:///x",
        ]
    private static let pieces = [
        "/", ":", "@", ".", "%", "%2F", "%00", "=", "-", "_", "?", "plain/", "0", "9", "-1", "1e9",
        "nan", "é", "\u{301}", "\u{0}", "f:", "w:", "rs:", "pr:", "exp:", "sm", "fp", "0.5",
        "2147483647", "99999999999999999999", "/-/", "enc/", ",", "w=3", "fit=pad",
    ]

    private static func mutated(_ text: String, _ numbers: inout SeededGenerator) -> String {
        var scalars = Array(text.unicodeScalars)
        for _ in 0..<Int.random(in: 1...4, using: &numbers) {
            let at = Int.random(in: 0...scalars.count, using: &numbers)
            switch Int.random(in: 0..<4, using: &numbers) {
            case 0: scalars.removeSubrange(at..<min(scalars.count, at + 3))
            case 1:
                scalars.insert(
                    contentsOf: pieces.randomElement(using: &numbers)!.unicodeScalars, at: at)
            case 2 where at < scalars.count:
                scalars[at] = Unicode.Scalar(UInt8.random(in: 0...127, using: &numbers))
            default:
                let end = Int.random(in: at...scalars.count, using: &numbers)
                scalars.insert(contentsOf: scalars[at..<end], at: at)
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    private static func parsers() throws -> [PlanParser] {
        var open = PlanParser.Configuration()
        open.limits.allowsRaw = true
        open.limits.allowsSecurityOptions = true
        var presets = PlanParser.Configuration()
        presets.presets = ["default=q:50", "a=w:10/pr:b", "b=pr:a/h:5"]
        presets.onlyPresets = true
        return [try PlanParser(), try PlanParser(open), try PlanParser(presets)]
    }

    @Test(arguments: 0..<8) func aPathIsAPlanOrAnError(seed: UInt64) throws {
        let parsers = try Self.parsers()
        var numbers = SeededGenerator(state: seed)
        var count = 0
        for _ in 0..<1500 {
            let path = Self.mutated(Self.seeds.randomElement(using: &numbers)!, &numbers)
            for parser in parsers {
                guard let plan = try? parser.parse(path: path) else { continue }
                count += 1
                let text = plan.canonicalText
                let again = try parsers[1].parse(path: text)
                #expect(again.canonicalText == text, "\(path)")
                #expect(again.source == plan.source)
            }
            if let signed = try? SignedPath(target: path) {
                _ = try? parsers[1].parse(path: signed.path)
            }
            _ = try? parsers[0].parse(shortForm: path)
        }
        // Most paths with few changes are none; those that are have been looked at.
        #expect(count > 100)
    }
}
