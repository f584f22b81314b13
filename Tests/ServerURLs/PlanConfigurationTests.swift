import HalcyonServerURLs
import Testing

/// Presets, lists of options, limits and hints.
struct PlanConfigurationTests {
    private func parser(
        _ change: (inout PlanParser.Configuration) -> Void
    ) throws(PlanError) -> PlanParser {
        var configuration = PlanParser.Configuration()
        change(&configuration)
        return try PlanParser(configuration)
    }

    private func code(_ parser: PlanParser, _ path: String) -> String? {
        do throws(PlanError) {
            _ = try parser.parse(path: path)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func aPresetIsItsOptions() throws {
        let parser = try parser {
            $0.presets = [
                "# sizes", "", "thumb=rs:fill:100:100/q:70", " small=w:50/pr:sharp", "sharp=sh:0.5",
            ]
        }
        let thumb = try parser.parse(path: "/pr:thumb/plain/local:///a.jpg")
        #expect(thumb == (try parser.parse(path: "/rs:fill:100:100/q:70/plain/local:///a.jpg")))
        let both = try parser.parse(path: "/preset:thumb:small/h:7/plain/local:///a.jpg").options
        #expect(both.width == 50 && both.height == 7 && both.quality == 70 && both.sharpen == 0.5)
    }

    @Test func theDefaultPresetComesFirst() throws {
        let parser = try parser { $0.presets = ["default=w:100/h:100/q:50"] }
        let options = try parser.parse(path: "/h:5/plain/local:///a.jpg").options
        #expect(options.width == 100 && options.height == 5 && options.quality == 50)
    }

    @Test func aPresetThatContainsItselfIsCutThere() throws {
        let parser = try parser { $0.presets = ["a=w:1/pr:b/h:3", "b=w:2/pr:a/q:4"] }
        let notes = Notes()
        let options = try parser.parse(path: "/pr:a/plain/local:///a.jpg") { notes.add($0) }.options
        #expect(options.width == 2 && options.height == 3 && options.quality == 4)
        #expect(notes.texts.count == 1 && notes.texts[0].contains("Preset a"))
    }

    @Test(arguments: [
        "thumb", "thumb=", "=w:1", "a=w:1=2", "a=w:x", "a=nothing:1", "a=pr:unknown", "a=w",
    ])
    func aPresetThatCannotBeReadIsRefused(line: String) {
        #expect(throws: PlanError.self) { try parser { $0.presets = [line] } }
    }

    @Test func allFaultsAreTold() {
        var configuration = PlanParser.Configuration()
        configuration.presets = ["a", "b=w:x", "c=w:1", "c=w:2"]
        configuration.allowedOptions = ["w", "nothing"]
        let faults = PlanParser.faults(of: configuration)
        #expect(faults.count == 4)
        #expect(faults.contains { $0.reason.contains("nothing") })
        #expect(faults.contains { $0.reason.hasPrefix("Preset b:") })
    }

    @Test func onlyPresetsTakesNamesAndNoOptions() throws {
        let parser = try parser {
            $0.presets = ["thumb=w:100", "gray=q:50", "fit=w:7"]
            $0.onlyPresets = true
            $0.allowedOptions = ["w"]
        }
        let plan = try parser.parse(path: "/thumb:gray/plain/local:///a.jpg@webp")
        #expect(plan.options.width == 100 && plan.options.quality == 50 && plan.format == .webp)
        #expect(code(parser, "/w:10/plain/local:///a.jpg") == "invalid_option")
        #expect(code(parser, "/other/plain/local:///a.jpg") == "invalid_option")
        #expect(code(parser, "/thumb") == "invalid_path")
        #expect(code(parser, "//plain/local:///a.jpg") == "invalid_path")
        #expect(try parser.parse(path: "/fit/plain/local:///a.jpg").options.width == 7)
    }

    @Test func anAllowedOptionIsAllowedByAllItsNames() throws {
        let parser = try parser {
            $0.presets = ["big=w:1000/blur:3"]
            $0.allowedOptions = ["resize", "q"]
        }
        #expect(code(parser, "/rs:fit:1:1/quality:5/plain/local:///a.jpg") == nil)
        #expect(code(parser, "/w:1/plain/local:///a.jpg") == "invalid_option")
        #expect(code(parser, "/pr:big/plain/local:///a.jpg") == "invalid_option")
    }

    @Test func insidePresetsEverythingIsAllowed() throws {
        let parser = try parser {
            $0.presets = ["big=blur:3/maf:1000/raw:1"]
            $0.allowedOptions = ["pr"]
        }
        let options = try parser.parse(path: "/pr:big/plain/local:///a.jpg").options
        #expect(options.blur == 3 && options.limits.frames == 1000 && options.raw)
    }

    @Test(arguments: [
        ("msr:50", "msr:50.1"), ("msfs:20971520", "msfs:20971521"), ("msfs:1", "msfs:0"),
        ("maf:60", "maf:61"), ("mrd:8192", "mrd:8193"), ("mrd:1", "mrd:0"), ("maf:1", "mafr:1"),
    ])
    func limitsMayBeLoweredAndNotRaised(lower: String, higher: String) throws {
        let strict = try parser { _ in }
        #expect(code(strict, "/\(lower)/plain/local:///a.jpg") == nil)
        #expect(code(strict, "/\(higher)/plain/local:///a.jpg") == "option_forbidden")
        let open = try parser { $0.limits.allowsSecurityOptions = true }
        #expect(code(open, "/\(higher)/plain/local:///a.jpg") == nil)
        #expect(ServerFailure.optionForbidden.status == 403)
    }

    @Test func rawNeedsPermission() throws {
        #expect(code(try parser { _ in }, "/raw:1/plain/local:///a.jpg") == "option_forbidden")
        #expect(code(try parser { _ in }, "/raw:0/plain/local:///a.jpg") == nil)
        let open = try parser { $0.limits.allowsRaw = true }
        #expect(try open.parse(path: "/raw:1/plain/local:///a.jpg@exe").options.raw)
    }

    @Test func whatCannotBeWorkedIsUnsupported() throws {
        let parser = try parser { $0.unavailableOptions = [.trim] }
        #expect(code(parser, "/t:10/plain/local:///a.jpg") == "unsupported_option")
        #expect(code(parser, "/w:10/plain/local:///a.jpg") == nil)
    }

    @Test func hintsComeBeforePresetsAndOptions() throws {
        let parser = try parser { $0.presets = ["default=q:50"] }
        let hints = ClientHints(width: 200, dpr: 2)
        let plain = try parser.parse(path: "/plain/local:///a.jpg", hints: hints).options
        #expect(plain.width == 200 && plain.dpr == 2 && plain.quality == 50)
        let own = try parser.parse(path: "/w:5/dpr:1/plain/local:///a.jpg", hints: hints).options
        #expect(own.width == 5 && own.dpr == 1)
    }

    @Test func defaultsHoldWhereNobodySaysSomething() throws {
        let parser = try parser { $0.defaults.stripMetadata = false }
        #expect(try !parser.parse(path: "/plain/local:///a.jpg").options.stripMetadata)
        #expect(try parser.parse(path: "/sm:1/plain/local:///a.jpg").options.stripMetadata)
    }
}
