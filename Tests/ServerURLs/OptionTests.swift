import HalcyonServerURLs
import Testing

/// What each option sets, by its names, and what it refuses.
struct OptionTests {
    typealias Setting = @Sendable (inout ProcessingOptions) -> Void

    private func options(_ segments: String) throws(PlanError) -> ProcessingOptions {
        var configuration = PlanParser.Configuration()
        configuration.limits.allowsRaw = true
        configuration.limits.allowsSecurityOptions = true
        return try PlanParser(configuration).parse(path: "/\(segments)/plain/local:///a.jpg")
            .options
    }

    static let settings: [(String, Setting)] = [
        ("rs:fill:300:200", { ($0.resizing, $0.width, $0.height) = (.fill, 300, 200) }),
        (
            "resize:fill-down:300:200:1:1:so:1:2",
            {
                ($0.resizing, $0.width, $0.height, $0.enlarge, $0.extend) = (
                    .fillDown, 300, 200, true, .anchor(.south, x: 1, y: 2)
                )
            }
        ),
        ("rs::300", { $0.width = 300 }),
        (
            "s:300:200:1:1",
            { ($0.width, $0.height, $0.enlarge, $0.extend) = (300, 200, true, .centre) }
        ),
        ("size:300", { $0.width = 300 }), ("rt:auto", { $0.resizing = .auto }),
        ("resizing_type:force", { $0.resizing = .force }),
        ("w:2147483647", { $0.width = 2_147_483_647 }), ("width:+7", { $0.width = 7 }),
        ("h:0", { _ in }), ("height:5", { $0.height = 5 }), ("mw:5", { $0.minWidth = 5 }),
        ("min-width:5", { $0.minWidth = 5 }), ("mh:5", { $0.minHeight = 5 }),
        ("z:0.5", { ($0.zoomX, $0.zoomY) = (0.5, 0.5) }),
        ("zoom:.5:1e1", { ($0.zoomX, $0.zoomY) = (0.5, 10) }), ("dpr:2.5", { $0.dpr = 2.5 }),
        ("el:t", { $0.enlarge = true }), ("enlarge:1/el:", { $0.enlarge = true }),
        ("ex:1", { $0.extend = .centre }),
        ("ex:1:nowe:5", { $0.extend = .anchor(.northWest, x: 5) }),
        ("ex:1:no:1:2/ex:1", { $0.extend = .centre }), ("ex:1/ex:0", { _ in }),
        ("exar:1:fp:0.1:0.2", { $0.extendAspectRatio = .focus(x: 0.1, y: 0.2) }),
        ("extend_ar:1", { $0.extendAspectRatio = .centre }),
        ("extend_aspect_ratio:true", { $0.extendAspectRatio = .centre }),
        ("g:soea:10:-0.5", { $0.gravity = .anchor(.southEast, x: 10, y: -0.5) }),
        ("g:fp:0:1", { $0.gravity = .focus(x: 0, y: 1) }), ("gravity:sm", { $0.gravity = .smart }),
        ("g:no:1:2/g::7", { $0.gravity = .anchor(.north, x: 7) }),
        ("g:no:1:2/g:no", { $0.gravity = .anchor(.north) }),
        ("g:no:1:2/g:no:", { $0.gravity = .anchor(.north, x: 1) }),
        ("c:100:0.5", { $0.crop = .init(width: 100, height: 0.5) }),
        ("crop:100", { $0.crop = .init(width: 100, height: 0) }),
        ("c:100:50:sm", { $0.crop = .init(width: 100, height: 50, gravity: .smart) }),
        (
            "c:100:50:no:1:2",
            { $0.crop = .init(width: 100, height: 50, gravity: .anchor(.north, x: 1, y: 2)) }
        ),
        ("c:100:50/c:0:0", { _ in }),
        ("t:10", { $0.trim = .init(threshold: 10) }),
        (
            "trim:10.5:f00:1:0",
            {
                $0.trim = .init(
                    threshold: 10.5, colour: RGBColor(red: 255, green: 0, blue: 0),
                    equalHorizontally: true)
            }
        ),
        ("t:10/t:", { _ in }),
        ("pd:10", { $0.padding = .init(top: 10, right: 10, bottom: 10, left: 10) }),
        ("pd:10:20", { $0.padding = .init(top: 10, right: 20, bottom: 10, left: 20) }),
        ("padding:1:2:3", { $0.padding = .init(top: 1, right: 2, bottom: 3, left: 2) }),
        ("pd:1:2:3:4", { $0.padding = .init(top: 1, right: 2, bottom: 3, left: 4) }),
        ("pd::20", { $0.padding = .init(right: 20, left: 20) }),
        ("ar:0", { $0.autoRotate = false }), ("rot:90", { $0.rotation = 90 }),
        ("rotate:-90", { $0.rotation = 270 }), ("rot:720", { _ in }),
        ("fl:1", { $0.flipHorizontally = true }),
        ("flip:1:1", { ($0.flipHorizontally, $0.flipVertically) = (true, true) }),
        ("fl:1:1/fl:0:1", { $0.flipVertically = true }),
        ("bg:ff8000", { $0.background = RGBColor(red: 255, green: 128, blue: 0) }),
        ("background:F80", { $0.background = RGBColor(red: 255, green: 136, blue: 0) }),
        ("bg:1:2:3", { $0.background = RGBColor(red: 1, green: 2, blue: 3) }),
        ("bg:1:2:3/bg:", { _ in }), ("bl:0.3", { $0.blur = 0.3 }), ("blur:100", { $0.blur = 100 }),
        ("sh:0.7", { $0.sharpen = 0.7 }), ("pix:1", { _ in }), ("pixelate:8", { $0.pixelate = 8 }),
        ("wm:0.5", { $0.watermark = .init(opacity: 0.5) }),
        (
            "watermark:1:soea:10:-10:0.2",
            {
                $0.watermark = .init(
                    opacity: 1, position: .anchor(.southEast), x: 10, y: -10, scale: 0.2)
            }
        ),
        ("wm:1:re:10", { $0.watermark = .init(opacity: 1, position: .tiled, x: 10) }),
        ("wm:1/wm:0", { _ in }), ("sm:0", { $0.stripMetadata = false }),
        ("kcr:0", { $0.keepCopyright = false }), ("scp:0", { $0.stripColorProfile = false }),
        ("ph:1", { $0.preserveHDR = true }), ("eth:1", { $0.enforceThumbnail = true }),
        ("q:75", { $0.quality = 75 }), ("q:75/q:0", { _ in }),
        ("fq:webp:50:jpg:60", { $0.formatQuality = [.webp: 50, .jpeg: 60] }),
        ("mb:1000", { $0.maxBytes = 1000 }), ("f:jpeg", { $0.format = .jpeg }),
        ("ext:tiff", { $0.format = .tiff }), ("format:svg", { $0.format = .svg }),
        ("raw:1", { $0.raw = true }), ("cb:abc", { $0.cacheBuster = "abc" }),
        ("cb:abc/cachebuster:", { _ in }), ("exp:4102444800", { $0.expires = 4_102_444_800 }),
        ("fn:a%20b", { $0.filename = "a b" }), ("filename:w6k:1", { $0.filename = "é" }),
        ("att:1", { $0.asAttachment = true }), ("msr:2.5", { $0.limits.sourcePixels = 2_500_000 }),
        ("msfs:1000", { $0.limits.sourceBytes = 1000 }),
        ("msfs:0", { $0.limits.sourceBytes = .max }), ("maf:3", { $0.limits.frames = 3 }),
        ("maf:60", { _ in }), ("mafr:1", { $0.limits.framePixels = 1_000_000 }),
        ("mrd:100", { $0.limits.resultDimension = 100 }),
        ("mrd:-1", { $0.limits.resultDimension = .max }),
        ("hx:Ymx1cjoz", { $0.processors = "blur:3" }),
    ]

    @Test(arguments: settings)
    func anOptionSetsWhatItSays(segments: String, setting: Setting) throws {
        var expected = ProcessingOptions()
        setting(&expected)
        #expect(try options(segments) == expected)
    }

    @Test(arguments: [
        "w:-1", "w:1e9", "w:1.5", "w:2147483648", "w: 1", "w:0x10", "h:abc", "mw:-1", "z:0",
        "z:-1", "z:nan", "z:inf", "z:1:0", "z:1000001", "dpr:0", "dpr:-1", "dpr:8.01", "rt:crop",
        "rs:big:1:1", "ex:1:sm", "exar:1:sm", "g:xx", "g:fp", "g:fp:0.5", "g:fp:2:2", "g:fp:-1:0",
        "g:sm:1", "g:ce:a", "g:ce:0x1", "c::", "c:", "c:-1:5", "c:a:5", "c:nan", "t:a", "t:10:zzz",
        "t:-1", "pd:-1", "pd:1:a", "rot:45", "rot:a", "bg:zzz", "bg:ff", "bg:#ff0000", "bg:1:2",
        "bg:256:0:0", "bg:-1:0:0", "bl:-1", "bl:101", "bl:1e308", "blur:1e999", "sh:-1", "pix:-1",
        "pix:1.5", "wm:2", "wm:-0.1", "wm:1:xx", "wm:1:ce:a", "wm:1:ce:0:0:-1", "q:101", "q:-1",
        "q:a", "fq:webp", "fq:webp:101", "fq:exe:50", "mb:-1", "f:exe", "f:JPG", "skp:exe",
        "exp:a", "exp:-1", "fn:%zz", "fn:*:1", "msr:0", "msr:-1", "msfs:-1", "maf:0", "mafr:-1",
        "mrd:a", "hx:*", "hx:_w", "w:1:2", "w:1:", "rs:fit:1:1:0:0:ce:0:0:0", "s:1:1:0:0:ce:0:0:0",
        "g:ce:0:0:0", "c:1:1:ce:0:0:0", "t:1:f00:0:0:0", "pd:1:1:1:1:1", "bg:1:1:1:1",
        "wm:1:ce:0:0:0:0",
        "fl:1:1:1", "z:1:1:1", "fn:a:0:0", "el:1:1", "unknown:1", "W:10", "pr:unknown", ":", "::1",
    ])
    func whatIsOutOfItsRangeIsRefused(segments: String) {
        let error = #expect(throws: PlanError.self) { try options(segments) }
        #expect(
            error?.code == "invalid_option" && error?.status == 404, "\(String(describing: error))")
    }

    /// Numbers of four hundred digits, and a thousand arguments.
    @Test(arguments: [
        (":" + String(repeating: "9", count: 400), ["w", "q", "exp", "mb", "dpr", "bl"]),
        (String(repeating: ":1", count: 1000), ["w", "rs", "wm", "fq"]),
    ])
    func whatIsTooLongIsRefused(arguments: String, names: [String]) {
        for name in names {
            #expect(throws: PlanError.self, "\(name)") { try options(name + arguments) }
        }
    }

    @Test(arguments: [
        "ra:lanczos3", "adjust:1:1:1", "a:1", "br:10", "co:1", "sa:1", "mc:1", "ush:1", "wmu:x",
        "wmt:x", "st:x", "dpi:300", "icc:x", "aq:1", "pg:2", "pgs:2", "da:1", "vts:1", "fiu:x",
        "hashsum:x", "op:1", "gradient:1", "g:obj:face", "g:objw:face:2", "ex:1:obj", "wm:1:ch",
        "f:best",
    ])
    func whatHalcyonDoesNotHaveSaysSo(segments: String) {
        let error = #expect(throws: PlanError.self) { try options(segments) }
        #expect(
            error?.code == "unsupported_option" && error?.status == 404,
            "\(String(describing: error))")
        #expect(error?.reason.contains("not supported by Halcyon") == true)
    }

    @Test func everyNameBelongsToOneOption() {
        let names = OptionName.allCases.flatMap { [$0.rawValue] + $0.shortNames }
        #expect(Set(names).count == names.count)
        for option in OptionName.allCases {
            #expect(OptionName(urlName: option.rawValue) == option)
            for name in option.shortNames { #expect(OptionName(urlName: name) == option) }
        }
    }
}
