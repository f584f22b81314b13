import Foundation
import Testing

@testable import HalcyonHTTP

@Suite("Cache-Control") struct CacheControlDirectivesTests {
    private func parse(_ lines: String...) -> CacheControlDirectives {
        CacheControlDirectives(parsing: lines)
    }

    @Test(
        "Seconds are digits, in a token or in quotes",
        arguments: [
            ("max-age=60", 60), ("MAX-AGE=60", 60), ("max-age=\"60\"", 60), ("max-age=0060", 60),
            ("max-age=\"6\\0\"", 60), ("public ,\tmax-age=60 ,", 60), (",,max-age=60", 60),
            ("max-age=2147483648", 2_147_483_648), ("max-age=2147483649", 2_147_483_648),
            ("max-age=99999999999999999999999999999999", 2_147_483_648),
        ])
    func seconds(text: String, seconds: TimeInterval) { #expect(parse(text).maxAge == seconds) }

    @Test(
        "An age limit that makes no sense leaves no lifetime",
        arguments: [
            "max-age", "max-age=", "max-age=-1", "max-age=60.0", "max-age='60'", "max-age=a1",
            "max-age=1a", "max-age =60", "max-age= 60", "max-age=6 0", "max-age=\"\"",
            "max-age=\" 60\"", "max-age=٦٠", "max-age=+60", "max-age=60;x", "max-age=\"60\"x",
        ])
    func invalidSeconds(text: String) {
        #expect(parse(text).maxAge == 0)
        #expect(parse(text.replacing("max-age", with: "s-maxage")).sharedMaxAge == 0)
    }

    @Test("Windows of stale use that make no sense are absent") func invalidWindows() {
        let directives = parse("stale-while-revalidate=x, stale-if-error, min-fresh=-1")
        #expect(directives.staleWhileRevalidate == nil && directives.staleIfError == nil)
        #expect(directives.minFresh == nil)
    }

    @Test("Any staleness is accepted by max-stale without argument, none by an invalid one")
    func maxStale() {
        #expect(parse("max-stale").maxStale == .infinity && parse("max-stale=5").maxStale == 5)
        #expect(parse("max-stale=x").maxStale == 0 && parse("").maxStale == nil)
    }

    @Test("Of a directive given twice the first one counts, on one line or two") func duplicates() {
        #expect(parse("max-age=1, max-age=2").maxAge == 1)
        #expect(parse("max-age=1", "max-age=2").maxAge == 1)
    }

    @Test(
        "Lists of fields are united, and a directive without a list speaks of the whole response",
        arguments: ["private", "no-cache"])
    func fieldLists(name: String) {
        func fields(_ lines: String...) -> Set<String>? {
            let directives = CacheControlDirectives(
                parsing: lines.map { $0.replacing("?", with: name) })
            let (isWhole, names) =
                name == "private"
                ? (directives.isPrivate, directives.privateFields)
                : (directives.noCache, directives.noCacheFields)
            #expect(isWhole == names.isEmpty)
            return isWhole ? nil : names
        }
        #expect(fields("?=\"X-A\"") == ["x-a"] && fields("?=\"X-A\", ?") == nil)
        #expect(fields("?, ?=\"X-A\"") == nil && fields("?=\"X-A\"", "?") == nil)
        #expect(fields("?=\"X-A\", ?=\"\"") == nil && fields("?=, ?=\"X-A\"") == nil)
        #expect(fields("?=\"X-A\", ?=\"X-B, X-C\"", "?=x-d") == ["x-a", "x-b", "x-c", "x-d"])
    }

    @Test("Commas and equals signs inside quotes are text") func quotedSeparators() {
        let directives = parse("x=\"no-store, max-age=1\", max-age=60")
        #expect(!directives.noStore && directives.maxAge == 60)
        #expect(!parse("x y=\"no-store, \\\" max-age=1\", public").noStore)
    }

    @Test(
        "A quoted string without end swallows the rest and leaves no lifetime",
        arguments: ["x=\"a, no-store, max-age=60", "x y \"a, no-store", "x=\"a\\\"", "x=\"\\"])
    func unterminated(text: String) {
        let directives = parse("max-age=60, " + text)
        #expect(directives.isUnterminated && !directives.noStore)
        let stored = StoredResponse.cacheControl("max-age=60, " + text)
        #expect(HTTPCachePolicy.testing().freshness(of: stored).lifetime == 0)
    }

    @Test("A flag counts whatever its argument") func flagsWithArguments() {
        #expect(parse("no-store=x").noStore && parse("no-store=").noStore)
        #expect(parse("no-store; max-age=60").noStore)
        #expect(parse("no-store; max-age=60").maxAge == nil)
        #expect(parse("Must-Revalidate=\"\"").mustRevalidate)
    }

    @Test(
        "A list without names of fields limits nothing",
        arguments: [
            "no-cache", "no-cache=", "no-cache=\"\"", "no-cache=\" , \"", "no-cache=\"a b\"",
        ])
    func unqualified(text: String) {
        #expect(parse(text).noCache && parse(text).noCacheFields.isEmpty)
    }

    @Test("Pragma counts where there is no Cache-Control") func pragma() {
        #expect(CacheControlDirectives(of: ["Pragma": "x, No-Cache"]).noCache)
        #expect(!CacheControlDirectives(of: ["Pragma": "max-age=1"]).noCache)
        #expect(CacheControlDirectives(of: ["Pragma": "max-age=1"]).maxAge == nil)
        #expect(!CacheControlDirectives(of: ["Pragma": "no-cache", "cache-control": ""]).noCache)
    }

    @Test("A targeted field is a dictionary of structured fields") func targeted() throws {
        func parse(_ lines: String...) -> CacheControlDirectives? { .init(targeted: lines) }
        #expect(parse("max-age=60, public;a=1")?.maxAge == 60)
        #expect(parse("max-age=60", "no-store")?.noStore == true)
        #expect(parse("max-age=1, max-age=2")?.maxAge == 2, "the last one counts here")
        #expect(parse("max-age=\"60\"")?.maxAge == 0 && parse("max-age=60.0")?.maxAge == 0)
        #expect(parse("max-age=-1")?.maxAge == 0)
        #expect(parse("no-store=?0, a=(1 \"b\";c d), b=:YQ==:, c=@1, d=%\"x\"")?.noStore == false)
    }

    @Test(
        "A targeted field that does not parse as a whole is not there",
        arguments: [
            "", " ", "Max-Age=60", "max-age=60,", "max-age=60, &", "max-age =60", "max-age= 60",
            "a=\"", "a=\"\\x\"", "a=(1", "a=(1\"b\")", "a=?2", "a=:!:", "a=1.", "a=1.2345",
            "a=1234567890123456", "a=-", "a;", "a;B", "a b", "a=\"é\"",
        ])
    func brokenTargeted(text: String) { #expect(CacheControlDirectives(targeted: [text]) == nil) }
}
