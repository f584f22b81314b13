import CGtk4
import Foundation
import HalcyonGTK
import HalcyonGTKTestKit
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon
@testable import HalcyonGallery

/// Pictures of one's own, in the window of the gallery.
@MainActor
@Suite(
    .serialized, .enabled(if: TestDisplay.isAvailable), .timeLimit(.minutes(10)))
struct GalleryWindowTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory(prefix: "halcyon-gallery-window") }

    /// Writes pictures of 30 × 20 pixels, and returns the gallery of their folder.
    private func gallery(_ names: [String], more: [String] = []) async throws -> Gallery {
        for name in names { try folder.write(Self.png, to: name) }
        return try await Gallery(
            [GallerySource(folder.url.path)] + more.map { try GallerySource(folder.file($0).path) })
    }

    private static let png = PNGFixture.data(.solid(.blue, width: 30, height: 20))

    private func window(
        _ gallery: Gallery, _ page: PageName = .pictures
    ) async throws -> GalleryWindow {
        let window = GalleryWindow(gallery, page: page) {}
        window.present()
        try await window.appeared()
        return window
    }

    /// The views in `view`, and in those.
    private func views<Kind: View>(_ kind: Kind.Type, in view: View) -> [Kind] {
        widgets(in: view.widget).compactMap { View.of($0) as? Kind }
    }

    private func widgets(
        in widget: UnsafeMutablePointer<GtkWidget>
    ) -> [UnsafeMutablePointer<GtkWidget>] {
        guard let first = gtk_widget_get_first_child(widget) else { return [] }
        return sequence(first: first) { gtk_widget_get_next_sibling($0) }
            .flatMap { [$0] + widgets(in: $0) }
    }

    // MARK: The pictures

    @Test func eachPictureIsThereOnceAsPeopleSort() async throws {
        try folder.write(Data("no picture".utf8), to: "notes.txt")
        let gallery = try await gallery(
            ["10.png", "2.png", "b 3.png", "A/12.png", "A/9.png"], more: ["10.png", "A"])
        #expect(
            gallery.pictures.map(\.title) == ["2.png", "10.png", "b 3.png", "9.png", "12.png"])
        #expect(gallery.isOwn && gallery.failures.isEmpty)
        let samples = try await Gallery([])
        #expect(!samples.isOwn && samples.pictures.first?.title == "china.jpg")
    }

    @Test func aNameThatLeadsNowhereIsTold() async throws {
        try FileManager.default.createSymbolicLink(
            at: folder.file("gone.png"), withDestinationURL: folder.file("nowhere.png"))
        let gallery = try await gallery(["a.png"])
        #expect(gallery.failures.map(\.description).joined().contains("gone.png"))
        let page = PicturesPage.make(gallery)
        let window = await TestWindow(page, width: 400, height: 400)
        #expect(
            views(Label.self, in: page).contains { $0.isMapped && $0.text.contains("gone.png") })
        withExtendedLifetime(window) {}
    }

    @Test func picturesHaveTheirNamesAndBrokenOnesAReason() async throws {
        try folder.write(Data(Self.png.prefix(60)), to: "broken.png")
        let gallery = try await gallery(["a.png", "c.png"])
        let page = PicturesPage.make(gallery)
        let window = await TestWindow(page, width: 600, height: 400)
        func cells() -> [PictureCell] {
            views(PictureCell.self, in: page).filter(\.isMapped)
        }
        await window.frames { cells().contains { $0.text.hasPrefix("broken.png: ") } }
        #expect(cells().map(\.accessibleName) == ["a.png", "broken.png", "c.png"])
        #expect(cells().map(\.text).filter { $0.contains(":") }.count == 1)
        for cell in cells() {
            let item: UnsafeMutablePointer<GtkWidget> = gtk_widget_get_parent(cell.widget)
            #expect(cgtk_check_accessible_name(item, cell.accessibleName) == nil)
        }
    }

    @Test func aNameThatIsNoTextIsShownAndItsPictureOpened() async throws {
        try folder.write(Self.png, to: "plain.png")
        let name = Array("caf".utf8) + [0xE9] + Array(".png".utf8)
        let latin = try #require(FilePath(folder.url)).appending(name)
        try #require(
            latin.withCString { latin in link(folder.file("plain.png").path, latin) } == 0)
        let gallery = try await Gallery([GallerySource(folder.url.path)])
        #expect(gallery.failures.isEmpty && gallery.pictures.count == 2)
        let picture = try #require(gallery.pictures.first { $0.title.hasPrefix("caf") })
        let window = try await window(gallery)
        defer { window.close() }
        gallery.open(picture)
        await window.viewer.loaded()
        #expect(window.viewer.view.image?.pixelSize.width == 30)
        #expect(window.viewer.messageText.isEmpty)
    }

    // MARK: One picture

    @Test func aPictureIsOpenedAndTheOthersFollow() async throws {
        let gallery = try await gallery(["1.png", "2.png", "3.png"])
        let window = try await window(gallery)
        defer { window.close() }
        let viewer = window.viewer
        gallery.open(gallery.pictures[1])
        await viewer.loaded()
        #expect(window.showsPicture && viewer.view.image?.pixelSize.width == 30)
        #expect(viewer.view.accessibleName == "2.png" && viewer.messageText.isEmpty)
        #expect(viewer.informationText.contains("2.png\n\nPNG, 30×20, 8 bits, transparency"))
        let input = Input(viewer.view)
        for (key, title) in [
            ("Right", "3.png"), ("Right", "3.png"), ("Left", "2.png"), ("Page_Up", "1.png"),
            ("BackSpace", "1.png"), ("space", "2.png"),
        ] {
            #expect(input.press(key))
            await viewer.loaded()
            #expect(viewer.picture?.title == title)
        }
        #expect(!viewer.pane.showsSide && input.press("i") && viewer.pane.showsSide)
        #expect(input.press("Escape") && !window.showsPicture && viewer.view.image == nil)
        #expect(!Input(window.window).press("Escape"))
    }

    @Test func aPictureThatCannotBeShownSaysWhy() async throws {
        try folder.write(Data(Self.png.prefix(60)), to: "broken.png")
        let gallery = try await gallery(["a.png"])
        let window = try await window(gallery)
        defer { window.close() }
        gallery.open(try #require(gallery.pictures.first { $0.title == "broken.png" }))
        await window.viewer.loaded()
        #expect(window.viewer.messageText.hasPrefix("broken.png: The PNG data is damaged"))
        #expect(window.viewer.view.image == nil)
        Input(window.viewer.view).press("Left")
        await window.viewer.loaded()
        #expect(window.viewer.view.image != nil)
    }

    @Test func anAnimationIsPausedAndStepped() async throws {
        let frames = [Pixel.red, .green, .blue].map {
            GIFFixture.Frame(.solid($0, width: 20, height: 20))
        }
        try folder.write(GIFFixture.data(frames, loopCount: 0), to: "a.gif")
        let gallery = try await gallery([])
        let window = try await window(gallery)
        defer { window.close() }
        let viewer = window.viewer
        gallery.open(gallery.pictures[0])
        await viewer.loaded()
        while !viewer.view.isAnimating, !Task.isCancelled { await nextTurn() }
        let input = Input(viewer.view)
        #expect(input.press("space") && !viewer.view.isAnimating)
        let index = try #require(viewer.view.animator?.currentFrameIndex)
        #expect(viewer.frameText == "frame \(index + 1) of 3")
        for step in 1...4 {
            #expect(input.press("period"))
            #expect(viewer.frameText == "frame \((index + step) % 3 + 1) of 3")
        }
        #expect(input.press("comma"))
        #expect(viewer.frameText == "frame \(index % 3 + 1) of 3")
        #expect(input.press("space") && viewer.view.isAnimating && viewer.frameText.isEmpty)
    }

    // MARK: More pictures

    @Test func droppedFilesAreAdded() async throws {
        let gallery = try await gallery(["in/a.png"])
        let window = try await window(gallery, .grid)
        defer { window.close() }
        let other = try TemporaryDirectory()
        let file = try other.write(Self.png, to: "dropped.png")
        #expect(Input(window.window).drop(file: file.path))
        await window.viewer.loaded()
        #expect(gallery.pictures.map(\.title) == ["a.png", "dropped.png"])
        #expect(window.showsPicture && window.viewer.picture?.title == "dropped.png")
        // It is there already.
        _ = Input(window.window).drop(file: file.path)
        #expect(gallery.pictures.count == 2)
    }

    @Test func picturesAndPathsArePasted() async throws {
        let gallery = try await gallery(["in/a.png"])
        let window = try await window(gallery)
        defer { window.close() }
        let clipboard = gtk_widget_get_clipboard(window.window.widget)
        let other = try TemporaryDirectory()
        let file = try other.write(Self.png, to: "by path.png")
        gdk_clipboard_set_text(clipboard, file.path)
        #expect(Input(window.window).press("<Control>v"))
        while gallery.pictures.count < 2, !Task.isCancelled { await nextTurn() }
        #expect(gallery.pictures.last?.title == "by path.png")
        let texture = Texture(try Image.decoding(Self.png).bitmap())
        gdk_clipboard_set_texture(clipboard, texture.pointer)
        #expect(Input(window.window).press("<Control>v"))
        while gallery.pictures.count < 3, !Task.isCancelled { await nextTurn() }
        #expect(gallery.pictures.last?.title == "Pasted 1.png")
        await window.viewer.loaded()
        #expect(window.viewer.view.image?.pixelSize == PixelSize(width: 30, height: 20))
        gallery.removeFiles()
    }

    // MARK: The window

    @Test func keysCloseTheWindow() async throws {
        let gallery = try await gallery(["a.png"])
        for key in ["<Control>w", "<Control>q"] {
            let closed = Locked(0)
            let window = GalleryWindow(gallery, page: .pictures) { closed.withLock { $0 += 1 } }
            window.present()
            try await window.appeared()
            #expect(Input(window.window).press(key) && closed.value == 1)
            window.close()
        }
    }

    @Test func everyPageIsInTheListAtTheUsualSize() async throws {
        let gallery = try await gallery(["a.png"])
        let window = try await window(gallery)
        defer { window.close() }
        // The layout comes with the first frame.
        _ = await window.window.screenshot()
        let rows = widgets(in: window.pane.widget).filter {
            String(cString: cgtk_type_name($0)) == "GtkListBoxRow"
        }
        #expect(rows.count == PageName.allCases.count)
        for row in rows {
            let list: UnsafeMutablePointer<GtkWidget> = gtk_widget_get_ancestor(
                row, gtk_scrolled_window_get_type())
            var bounds = graphene_rect_t()
            #expect(gtk_widget_compute_bounds(row, list, &bounds) != 0)
            #expect(bounds.origin.y + bounds.size.height <= Float(gtk_widget_get_height(list)))
        }
    }

    @Test func everyPageFitsIntoANarrowWindow() async throws {
        let gallery = try await gallery(["a.png"])
        let window = try await window(gallery)
        defer { window.close() }
        func leastWidth() -> gint {
            var least: gint = 0
            gtk_widget_measure(
                window.window.widget, GTK_ORIENTATION_HORIZONTAL, -1, &least, nil, nil, nil)
            return least
        }
        for page in PageName.allCases {
            window.show(page)
            #expect(leastWidth() <= 360, "\(page)")
        }
        gallery.open(gallery.pictures[0])
        await window.viewer.loaded()
        #expect(leastWidth() <= 360)
    }

    @Test func theSideViewGivesWayWhereThereIsNoRoom() async throws {
        let (side, main) = (Label("side"), Label("main"))
        let pane = SidePane(side: side, main: main, width: 200)
        let changes = Recorder<Bool>()
        pane.onNarrow = { changes.record($0) }
        let window = await TestWindow(pane, width: 800, height: 100)
        #expect(side.isMapped && main.isMapped && side.size.width == 200)
        await window.resize(width: 360, height: 100)
        #expect(!side.isMapped && main.isMapped && main.size.width == 360)
        pane.showsSide = true
        await window.nextFrame()
        #expect(side.isMapped && !main.isMapped && side.size.width == 360)
        pane.showsSide = false
        await window.resize(width: 700, height: 100)
        #expect(side.isMapped && main.isMapped)
        #expect(await changes.waitFor(count: 2) == [true, false])
    }

    @Test func desktopsKnowTheProgramByItsName() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Packaging/desktop/\(GalleryProgram.identifier).desktop")
        let text = try String(contentsOf: file.standardizedFileURL, encoding: .utf8)
        #expect(text.contains("\nStartupWMClass=\(GalleryProgram.identifier)\n"))
    }
}

/// The colours of the style sheet, on the backgrounds of GTK's themes.
@MainActor @Suite(.enabled(if: TestDisplay.isAvailable)) struct StyleTests {
    @Test(arguments: [nil, "dark"] as [String?], Style.textClasses)
    func textCanBeRead(variant: String?, name: String) async throws {
        Style.install()
        let label = Label("text").style(name)
        let window = await TestWindow(Box(.column, [label]).style("gallery"), width: 80, height: 40)
        let context = gtk_widget_get_style_context(label.widget)
        let theme = gtk_css_provider_new()
        gtk_css_provider_load_named(theme, "Default", variant)
        gtk_style_context_add_provider(
            context, OpaquePointer(theme), guint(GTK_STYLE_PROVIDER_PRIORITY_SETTINGS + 1))
        g_object_unref(UnsafeMutableRawPointer(theme))
        await window.nextFrame()
        var (text, background) = (GdkRGBA(), GdkRGBA())
        gtk_style_context_get_color(context, &text)
        for name in ["theme_bg_color", "theme_base_color"] {
            #expect(gtk_style_context_lookup_color(context, name, &background) != 0)
            #expect((background.red < 0.5) == (variant == "dark"))
            func mixed(_ upper: Float, _ lower: Float) -> CGFloat {
                CGFloat(upper * text.alpha + lower * (1 - text.alpha))
            }
            let color = Color(
                red: mixed(text.red, background.red), green: mixed(text.green, background.green),
                blue: mixed(text.blue, background.blue), alpha: 1)
            let ground = Color(
                red: CGFloat(background.red), green: CGFloat(background.green),
                blue: CGFloat(background.blue), alpha: 1)
            #expect(color.contrastRatio(to: ground) >= 4.5, "\(name), on \(name)")
        }
    }
}
