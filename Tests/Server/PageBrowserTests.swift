import Foundation
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import Testing

/// The page in a browser, where there is Chromium.
@Suite(.enabled(if: Browser.isInstalled), .serialized, .timeLimit(.minutes(20)))
struct PageBrowserTests {
    /// Runs `body` with a server and a browser that shows its page.
    private func withPage(
        _ query: String = "", _ change: LiveServer.Change = { _ in },
        _ body: (LiveServer, Browser) async throws -> Void
    ) async throws {
        let live = try await LiveServer.start {
            $0.playground = true
            try change(&$0)
        }
        let browser = try await Browser.start()
        do {
            try await browser.resize(width: 1440, height: 900)
            try await browser.open("http://127.0.0.1:\(live.port)/playground/\(query)")
            try await body(live, browser)
        } catch {
            await browser.end()
            throw error
        }
        await browser.end()
    }

    /// Sets a control as a person does.
    private func set(_ name: String, _ value: String, in browser: Browser) async throws {
        try await browser.run(
            """
            const control = document.querySelector(`[name="\(name)"]`);
            if (control.type === "checkbox") control.checked = "\(value)" !== "";
            else if (control.type === "radio")
              document.querySelector(`[name="\(name)"][value="\(value)"]`).checked = true;
            else control.value = "\(value)";
            control.dispatchEvent(new Event("input", { bubbles: true }));
            """)
    }

    /// Runs `body` with a page that shows a sample, and what its header says.
    private func withChina(
        _ query: String = "", _ change: LiveServer.Change = { _ in },
        _ body: (LiveServer, Browser) async throws -> Void
    ) async throws {
        try await withPage(Self.china + query, change) { live, browser in
            try await waitForPicture(in: browser)
            try await browser.wait(until: "document.getElementById('info').children.length > 0")
            try await body(live, browser)
        }
    }

    /// Waits for the picture of the sample with these options, and an extension.
    private func waitForPicture(
        _ options: String = "", _ format: String = "", in browser: Browser
    ) async throws {
        let path = "/_\(options)/plain/local:///china.jpg\(format)"
        try await browser.wait(until: "\(picture).dataset.path === '\(path)'")
    }

    private func expectWidth(_ width: Int, in browser: Browser) async throws {
        #expect(try await browser.value("\(picture).naturalWidth") == width)
    }

    /// What stands in a field.
    private func content(of field: String, in browser: Browser) async throws -> String {
        try await browser.value("document.getElementById('\(field)').value")
    }

    private func click(_ element: String, in browser: Browser) async throws {
        try await browser.run("\(element).click()")
    }

    private static let china = "?source=local:///china.jpg"
    private let chinaPath = "/_/plain/local:///china.jpg"
    private let copy = "document.querySelector('[data-copies=\"url\"]')"
    private let picture = "document.getElementById('picture')"
    private let status = "document.getElementById('status').textContent"
    private let details = "document.querySelector('#raw code').textContent"

    @Test func itLoadsWithoutAComplaintAndFromThisServerAlone() async throws {
        try await withChina { live, browser in
            #expect(try await browser.log("browser") == [])
            let events = try await browser.log("performance")
            let sent = events.filter { $0.contains("Network.requestWillBeSent\"") }
            #expect(sent.count > 5)
            let own = "127.0.0.1:\(live.port)/"
            for event in sent {
                let url = event.firstMatch(of: /"url":"([^"]*)"/).map { String($0.1) } ?? ""
                #expect(
                    url.contains(own) || url.hasPrefix("data:") || url.hasPrefix("blob:"), "\(url)")
            }
            #expect(!events.contains { $0.contains("Network.loadingFailed") })
            #expect(!events.contains { $0.contains("\"status\":4") })
        }
    }

    @Test func theURLShownIsThatOfThePictureShown() async throws {
        try await withPage("") {
            $0.requireSignatures()
        } _: { live, browser in
            try await click("document.querySelector('[data-source$=\"/china.jpg\"]')", in: browser)
            try await set("w", "300", in: browser)
            try await browser.wait(until: "\(picture).naturalWidth === 300")
            let url = try await content(of: "url", in: browser)
            let target = try #require(url.firstRange(of: "/", after: 8).map { String(url[$0...]) })
            #expect(target == live.server.sign("/rs:fit:300:0:0/plain/local:///china.jpg"))
            // Pixel by pixel, as the page may not read the bytes of what it shows.
            try await browser.run(
                """
                window.alone = new Image();
                window.alone.src = document.getElementById("url").value;
                window.pixels = (image) => {
                  const canvas = document.createElement("canvas");
                  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
                  canvas.getContext("2d").drawImage(image, 0, 0);
                  return canvas.toDataURL("image/png");
                };
                """)
            try await browser.wait(until: "window.alone.naturalWidth === 300")
            #expect(
                try await browser.value(
                    "pixels(window.alone) === pixels(\(picture))", as: Bool.self))
            #expect(try await browser.value("pixels(window.alone).length > 10000", as: Bool.self))
            let alone = try await live.ask(target, fields: ["Accept": "image/*"])
            let shown = try await browser.value("Number(\(picture).dataset.bytes)", as: Int.self)
            #expect(alone.body.count == shown && alone["Content-Length"] == String(shown))
            let text = try await browser.value(status, as: String.self)
            #expect(text.hasPrefix("300 × 200 · jpeg · "), "\(text)")
            #expect(!text.contains("fwd=") && !text.contains("stored"), "\(text)")
            // Raw, for those who want to know it.
            #expect(try await browser.value("document.getElementById('raw').open") == false)
            let cache = try await browser.value(details, as: String.self)
            #expect(cache.hasPrefix("Cache-Status: halcyon; "), "\(cache)")
        }
    }

    @Test func eachControlIsAnOptionOfTheURL() async throws {
        try await withPage(Self.china) {
            $0.watermark.picture.path = try #require(LiveServer.samples) + "/kingfisher.png"
        } _: { _, browser in
            let rows: [(name: String, value: String, options: String, size: String)] = [
                ("w", "200", "/rs:fit:200:0:0", "200×133"),
                ("h", "100", "/rs:fit:0:100:0", "150×100"),
                ("rt", "fill", "/rs:fill:0:0:0", "640×427"),
                ("el", "1", "/rs:fit:0:0:1", "640×427"),
                ("dpr", "2", "/dpr:2", "640×427"), ("cw", "0.5", "/c:0.5:0", "320×427"),
                ("ch", "100", "/c:0:100", "640×100"), ("g", "no", "/g:no", "640×427"),
                ("t", "1", "/t:1", ""), ("rot", "90", "/rot:90", "427×640"),
                ("flh", "1", "/fl:1:0", "640×427"), ("flv", "1", "/fl:0:1", "640×427"),
                ("bl", "2", "/bl:2", "640×427"), ("sh", "1.5", "/sh:1.5", "640×427"),
                ("pix", "8", "/pix:8", "640×427"), ("ex", "1", "/ex:1", "640×427"),
                ("pd", "5", "/pd:5", "650×437"), ("bg", "ff8800", "/bg:ff8800", "640×427"),
                ("wm", "0.5", "/wm:0.5", "640×427"), ("wmp", "soea", "/wm:1:soea", "640×427"),
                ("wms", "0.25", "/wm:1:ce:0:0:0.25", "640×427"), ("f", "webp", "", "640×427"),
                ("q", "40", "/q:40", "640×427"), ("mb", "20000", "/mb:20000", "640×427"),
                ("meta", "1", "/sm:0", "640×427"),
            ]
            let names = Set(rows.map(\.name) + ["fx", "fy"])
            let found = try await browser.value(
                "[...document.querySelectorAll('details [name]')].map(c => c.name)",
                as: [String].self)
            #expect(names == Set(found))
            for (name, value, options, size) in rows {
                try await set(name, value, in: browser)
                try await waitForPicture(options, name == "f" ? "@webp" : "", in: browser)
                let shown = try await browser.value(
                    "\(picture).naturalWidth + '×' + \(picture).naturalHeight", as: String.self)
                if !size.isEmpty { #expect(shown == size, "\(name)") }
                try await set(name, "", in: browser)
            }
        }
    }

    @Test func ofFiveQuickChangesOnlyTheLastIsAskedFor() async throws {
        try await withChina { live, browser in
            for width in 101...105 { try await set("w", "\(width)", in: browser) }
            try await waitForPicture("/rs:fit:105:0:0", in: browser)
            let paths = live.log.events.compactMap { $0.metadata["path"].map { "\($0)" } }
            #expect(paths.filter { $0.contains("rs:fit:105") }.count == 1)
            try await expectWidth(105, in: browser)
        }
    }

    @Test func anOlderAnswerNeverReplacesANewerOne() async throws {
        let (origin, gate) = try await OriginServer.gated()
        try await withPage("") {
            $0.takeSources(of: origin)
        } _: { live, browser in
            try await set("source", "\(origin.url("/a.png"))", in: browser)
            try await browser.wait(until: "document.getElementById('url').value !== ''")
            await origin.waitForRequests(1)
            try await set("source", "local:///china.jpg", in: browser)
            try await waitForPicture(in: browser)
            gate.open()
            try await set("q", "70", in: browser)
            try await waitForPicture("/q:70", in: browser)
            try await expectWidth(640, in: browser)
        }
    }

    /// Drops a file on the page.
    private func drop(_ data: Data, _ name: String, in browser: Browser) async throws {
        try await browser.run(
            """
            const bytes = Uint8Array.from(atob("\(data.base64EncodedString())"), (c) => c.charCodeAt(0));
            const transfer = new DataTransfer();
            transfer.items.add(new File([bytes], "\(name)"));
            document.getElementById("drop").dispatchEvent(
              new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
            """)
    }

    @Test func droppedFilesAreShownOrRefusedWithTheReason() async throws {
        try await withPage("") {
            $0.limits.maxPixels = 500_000
        } _: { live, browser in
            let jpeg = try await live.ask(chinaPath + "@jpg").body
            try await drop(jpeg, "a.jpg", in: browser)
            try await browser.wait(until: "\(picture).naturalWidth === 640")
            let source = try await content(of: "source", in: browser)
            #expect(source.hasPrefix("upload:"))
            #expect(try await live.ask("/_/plain/\(source)").status == 404)

            let many = PNGFixture.solid(.blue, width: 1000, height: 600)
            try await drop(many, "b.png", in: browser)
            try await browser.wait(until: "\(details).startsWith('source_too_complex')")
            try await drop(Data("Hello".utf8), "c.txt", in: browser)
            try await browser.wait(until: "\(details).startsWith('source_format')")
        }
    }

    @Test func aWrongURLIsToldInPlaceAndThePageGoesOn() async throws {
        try await withChina { _, browser in
            try await browser.run("document.getElementById('source').focus()")
            try await set("source", "local:///missing.jpg", in: browser)
            try await browser.wait(until: "\(details).startsWith('source_not_found · 404 · ')")
            #expect(
                try await browser.value(status, as: String.self).hasPrefix(
                    "There is no such picture"))
            #expect(try await browser.value("document.activeElement.id") == "source")
            try await expectWidth(640, in: browser)
            let refused = "This server fetches from no other servers; set sources.http.allow"
            for source in ["javascript:alert(1)", "https://example.com/a.jpg"] {
                try await set("source", source, in: browser)
                try await browser.wait(until: "\(details).startsWith('source_not_allowed')")
                #expect(try await browser.value(status, as: String.self).hasPrefix(refused))
                try await set("source", "local:///china.jpg", in: browser)
                try await browser.wait(until: "\(details).startsWith('Cache-Status: ')")
            }
            try await set("q", "500", in: browser)
            try await browser.wait(until: "\(details).startsWith('invalid_option')")
            let said = try await browser.value(status, as: String.self)
            #expect(said.hasPrefix("A value is not one") && said.contains("q"), "\(said)")
            try await set("q", "50", in: browser)
            try await waitForPicture("/q:50", in: browser)
        }
    }

    @Test func comparisonAndFocusWorkByKeyboard() async throws {
        try await withChina { _, browser in
            try await browser.run("document.getElementById('compare').focus()")
            try await browser.press(Browser.right, Browser.right, Browser.right)
            let share = "document.getElementById('before').style.getPropertyValue('--share')"
            #expect(try await browser.value(share) == "3%")

            try await browser.wait(until: "document.getElementById('original').naturalWidth > 0")
            try await browser.run("document.getElementById('focus').focus()")
            try await browser.press(Browser.right, Browser.down, Browser.down)
            try await waitForPicture("/g:fp:0.52:0.54", in: browser)

            try await browser.run(
                """
                const frame = document.getElementById("original").getBoundingClientRect();
                document.getElementById("focus").dispatchEvent(new MouseEvent("click", {
                  detail: 1, bubbles: true, clientX: frame.left + frame.width / 4,
                  clientY: frame.top + frame.height / 2 }));
                """)
            try await waitForPicture("/g:fp:0.25:0.50", in: browser)
        }
    }

    @Test func withoutScriptsTheFormShowsThePicture() async throws {
        try await withPage("") { live, browser in
            try await browser.devTools("Emulation.setScriptExecutionDisabled", ["value": true])
            try await browser.open("http://127.0.0.1:\(live.port)/playground/\(Self.china)&w=200")
            #expect(try await browser.value("document.getElementById('comparing').hidden") == true)
            try await browser.run("document.getElementById('source').focus()")
            // The return key sends the form.
            try await browser.press(Browser.enter)
            try await browser.wait(until: "location.search.includes('rt=')")
            try await browser.wait(until: "\(picture).naturalWidth === 200")
            let url = try await content(of: "url", in: browser)
            #expect(url.hasSuffix("/_/rs:fit:200:0:0/plain/local:///china.jpg"))
        }
    }

    /// The least contrast of all text that is seen, and where it is (WCAG 2.1).
    private static let leastContrast = """
        (() => {
          const parse = (text) => text.match(/[\\d.]+/g).map(Number);
          const light = (c) => c.slice(0, 3).map((v) => v / 255)
            .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
            .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
          const ground = (element) => {
            for (let e = element; e; e = e.parentElement) {
              const colour = parse(getComputedStyle(e).backgroundColor);
              if (colour.length < 4 || colour[3] > 0) return colour;
            }
            return [255, 255, 255];
          };
          let least = { ratio: 21, text: "" };
          const seen = (e) => e.checkVisibility() && e.getBoundingClientRect().width > 0;
          const note = (element, text) => {
            const [a, b] = [light(parse(getComputedStyle(element).color)), light(ground(element))];
            const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            if (ratio < least.ratio) least = { ratio, text };
          };
          const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const node = walker.currentNode;
            if (node.data.trim() && seen(node.parentElement)) note(node.parentElement, node.data);
          }
          for (const field of document.querySelectorAll("input, select")) if (seen(field)) note(field, field.id);
          return least;
        })()
        """

    private struct Contrast: Decodable {
        let ratio: Double
        let text: String
    }

    @Test(arguments: [
        (360, 740, 1.0), (320, 600, 1.0), (1440, 900, 1.0), (720, 450, 2.0), (2560, 1200, 1.0),
    ])
    func itFitsItsWindowAndCanBeRead(width: Int, height: Int, scale: Double) async throws {
        try await withPage(Self.china + "&w=480&h=320&rt=fill&g=sm&f=webp") { _, browser in
            try await browser.resize(width: width, height: height, scale: scale)
            try await browser.wait(until: "\(picture).naturalWidth === 480")
            try await browser.wait(until: "document.getElementById('info').children.length > 0")
            try await browser.run("document.getElementById('compare-formats').click()")
            for isDark in [false, true] {
                try await browser.prefer(dark: isDark)
                let wide = "document.documentElement.scrollWidth"
                #expect(try await browser.value(wide, as: Int.self) <= width, "dark: \(isDark)")
                try await browser.run(
                    "for (const group of document.querySelectorAll('details')) group.open = true")
                #expect(try await browser.value(wide, as: Int.self) <= width, "dark: \(isDark)")
                let least = try await browser.value(Self.leastContrast, as: Contrast.self)
                #expect(least.ratio >= 4.5, "dark: \(isDark), \(least.text)")
            }
        }
    }

    @Test(arguments: [(1440, 900), (360, 740)])
    func everythingIsReachedByTheTabulatorInTheOrderInWhichItIsSeen(
        width: Int, height: Int
    ) async throws {
        try await withChina { _, browser in
            try await browser.resize(width: width, height: height)
            try await browser.run(
                "for (const group of document.querySelectorAll('details')) group.open = true")
            let wanted = try await browser.value(
                """
                [...document.querySelectorAll("a[href], button, input, select, summary")]
                  .filter((e) => e.checkVisibility() && e.tabIndex >= 0 && (e.type !== "radio" || e.checked))
                  .length
                """, as: Int.self)
            #expect(wanted > 40)
            // Where each is in its column, and in which: the first column comes before the second.
            let place = """
                (() => {
                  const e = document.activeElement;
                  if (e === document.body) return [];
                  const frame = e.getBoundingClientRect();
                  const region = e.closest("form, #result, #more, #examples");
                  const regions = [...document.querySelectorAll("form, #result, #more, #examples")];
                  return [regions.indexOf(region), Math.round(frame.bottom + scrollY)];
                })()
                """
            var last = [0, 0]
            var count = 0
            while count < wanted {
                try await browser.press(Browser.tab)
                let now = try await browser.value(place, as: [Int].self)
                guard now.count == 2 else { break }
                #expect(
                    now[0] > last[0] || (now[0] == last[0] && now[1] >= last[1] - 40),
                    "\(last) → \(now)")
                last = now
                count += 1
            }
            #expect(count == wanted)

            let tree = try await browser.devTools("Accessibility.getFullAXTree")
            let nodes = try #require(tree["nodes"] as? [[String: Any]])
            let roles: Set = [
                "button", "link", "textbox", "combobox", "checkbox", "radio", "slider",
                "spinbutton",
            ]
            var named = 0
            for node in nodes where node["ignored"] as? Bool == false {
                let role = (node["role"] as? [String: Any])?["value"] as? String ?? ""
                guard roles.contains(role) else { continue }
                let name = (node["name"] as? [String: Any])?["value"] as? String ?? ""
                #expect(!name.isEmpty, "\(role) \(node)")
                named += 1
            }
            #expect(named > 40)
            let ids = try await browser.value(
                "[...document.querySelectorAll('[id]')].map((e) => e.id)", as: [String].self)
            #expect(Set(ids).count == ids.count)
        }
    }

    @Test func theSamplesAreOneStopWithArrowKeys() async throws {
        try await withPage("") { _, browser in
            let links = "[...document.querySelectorAll('#samples a')]"
            let last = try await browser.value("\(links).length - 1", as: Int.self)
            #expect(last > 3)
            func expectFocus(at place: Int) async throws {
                let focused = "\(links).indexOf(document.activeElement)"
                #expect(try await browser.value(focused) == place)
                let stop = "\(links).findIndex((link) => link.tabIndex === 0)"
                #expect(try await browser.value(stop) == place)
                let others = "\(links).filter((link) => link.tabIndex === -1).length"
                #expect(try await browser.value(others) == last)
            }
            try await browser.run("document.getElementById('file').focus()")
            try await browser.press(Browser.tab)
            try await expectFocus(at: 0)
            for (key, place) in [
                (Browser.right, 1), (Browser.right, 2), (Browser.left, 1), (Browser.endKey, last),
                (Browser.right, last), (Browser.homeKey, 0), (Browser.left, 0), (Browser.right, 1),
            ] {
                try await browser.press(key)
                try await expectFocus(at: place)
            }
            // Away and back.
            try await browser.press(Browser.tab)
            let isAway = "document.activeElement.closest('#samples') === null"
            #expect(try await browser.value(isAway, as: Bool.self))
            try await browser.press(Browser.tab, shifted: true)
            try await expectFocus(at: 1)
            try await browser.press(Browser.enter)
            let source = "document.getElementById('source').value"
            try await browser.wait(until: "\(source) === \(links)[1].dataset.source")
            let current = "\(links).findIndex((link) => link.ariaCurrent === 'true')"
            try await browser.wait(until: "\(current) === 1")
            let group = "document.getElementById('samples')"
            #expect(try await browser.value("\(group).getAttribute('role')") == "toolbar")
        }
    }

    @Test(arguments: [(360, 740), (320, 600), (720, 900)])
    func inANarrowWindowThePictureComesFirstAndStaysInSight(width: Int, height: Int) async throws {
        try await withChina { _, browser in
            try await browser.resize(width: width, height: height)
            try await browser.run(
                """
                for (const group of document.querySelectorAll("form details")) group.open = true;
                scrollTo(0, 0);
                """)
            func frame(_ element: String) -> String {
                "document.querySelector('\(element)').getBoundingClientRect()"
            }
            let isFirst = "\(frame("#stage")).bottom <= \(frame("#controls")).top"
            #expect(try await browser.value(isFirst, as: Bool.self))
            try await browser.run("document.querySelector('[type=submit]').focus()")
            #expect(try await browser.value("scrollY > innerHeight", as: Bool.self))
            // Backwards, each comes from above.
            for _ in 0..<20 {
                let isInSight =
                    "\(frame("#stage")).top >= 0 && \(frame("#preview")).bottom < innerHeight * 0.6"
                #expect(try await browser.value(isInSight, as: Bool.self))
                let isClear =
                    "document.activeElement.getBoundingClientRect().top >= \(frame("#preview")).bottom"
                #expect(try await browser.value(isClear, as: Bool.self))
                try await browser.press(Browser.tab, shifted: true)
            }
        }
    }

    @Test func loadingAgainAndGoingBackKeepTheState() async throws {
        try await withChina { _, browser in
            try await set("w", "120", in: browser)
            try await waitForPicture("/rs:fit:120:0:0", in: browser)
            try await set("rot", "90", in: browser)
            let both = "/rs:fit:120:0:0/rot:90"
            try await waitForPicture(both, in: browser)
            try await browser.move("refresh")
            try await waitForPicture(both, in: browser)
            try await browser.move("back")
            try await waitForPicture("/rs:fit:120:0:0", in: browser)
            #expect(try await content(of: "rot", in: browser) == "")
            #expect(try await content(of: "w", in: browser) == "120")
        }
    }

    @Test func copyButtonsCopy() async throws {
        try await withChina { live, browser in
            try await browser.devTools(
                "Browser.grantPermissions",
                ["permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]])
            try await click(copy, in: browser)
            try await browser.wait(until: "\(status) === 'Copied.'")
            let copied = try await browser.value("navigator.clipboard.readText()", as: String.self)
            #expect(copied == "http://127.0.0.1:\(live.port)\(chinaPath)")
        }
    }

    @Test(arguments: ["undefined", "{ writeText: () => Promise.reject(new Error('no')) }"])
    func whatCouldNotBeCopiedIsNotSaidToBe(clipboard: String) async throws {
        try await withChina { _, browser in
            try await browser.run(
                "Object.defineProperty(navigator, 'clipboard', { value: \(clipboard) })")
            try await click(copy, in: browser)
            try await browser.wait(until: "\(status).startsWith('The text is selected')")
        }
    }

    @Test func aSecondComparisonOfFormatsTakesThePlaceOfTheFirst() async throws {
        try await withChina { _, browser in
            let rows = "document.querySelectorAll('#formats tbody tr')"
            try await browser.run(
                "for (let i = 0; i < 3; i++) document.getElementById('compare-formats').click()")
            // Each row has its name, its bytes and its time.
            let isWhole = "[...\(rows)].every((row) => row.cells.length === 3)"
            try await browser.wait(until: "\(rows).length > 3 && \(isWhole)")
            let names = "[...\(rows)].map((row) => row.cells[0].textContent)"
            try await browser.wait(until: "new Set(\(names)).size === \(rows).length")
            try await set("w", "120", in: browser)
            try await waitForPicture("/rs:fit:120:0:0", in: browser)
            let isHidden = "document.getElementById('formats').hidden"
            #expect(try await browser.value(isHidden, as: Bool.self))
        }
    }
}

extension String {
    /// The first place of `part` from an offset on.
    fileprivate func firstRange(of part: String, after offset: Int) -> String.Index? {
        self[index(startIndex, offsetBy: offset)...].firstRange(of: part)?.lowerBound
    }
}
