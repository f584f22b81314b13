import CGtk4
import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct ImageCellFactoryTests {
    /// A list in a window, once what is seen of it has its images.
    private func complete(
        _ fixture: ListFixture, width: Int = 90, cellSize: CGSize = CGSize(width: 40, height: 40),
        configure: (inout ImageCellConfiguration) -> Void = { _ in }
    ) async -> (ImageCollectionView<Int>, TestWindow) {
        var configuration = ImageCellConfiguration()
        configure(&configuration)
        let list = fixture.makeList(configuration: configuration, cellSize: cellSize)
        let window = await TestWindow(list, width: width, height: 300)
        await window.frames { list.isComplete }
        return (list, window)
    }

    @Test func everyCellThatIsSeenShowsItsOwnImage() async throws {
        let fixture = try await ListFixture(count: 100)
        let (list, window) = await complete(fixture)
        for cell in list.seenCells { #expect(try cell.shownIndex == cell.position) }
        list.scrollOffset = list.contentHeight
        await window.frames { list.seenCells.last?.position == 99 && list.isComplete }
        for cell in list.seenCells { #expect(try cell.shownIndex == cell.position) }
    }

    @Test func aThousandRebindsWithASlowOriginNeverShowAWrongImage() async throws {
        let fixture = try await ListFixture(count: 600, isHeld: true)
        let list = fixture.makeList()
        let window = await TestWindow(list, width: 100, height: 300)
        // Each step scrolls somewhere else and lets a few answers go, early or late.
        var random = SeededGenerator(state: 1)
        while fixture.bindings < 1000, !Task.isCancelled {
            let last = max(0, list.contentHeight - 301)
            list.scrollOffset = CGFloat.random(in: 0...last, using: &random).rounded(.down)
            await window.nextFrame()
            for cell in list.seenCells.prefix(3) {
                guard let position = cell.position, Bool.random(using: &random) else { continue }
                fixture.release(position)
            }
            for cell in list.binder.allCells {
                let shown = try cell.shownIndex
                if let position = cell.position { #expect(shown == nil || shown == position) }
            }
        }
        fixture.releaseAll()
        await window.frames { list.isComplete }
        for cell in list.seenCells { #expect(try cell.shownIndex == cell.position) }
    }

    @Test func onlyCellsThatAreSeenHaveATask() async throws {
        let fixture = try await ListFixture(count: 600, isHeld: true)
        var configuration = ImageCellConfiguration()
        configuration.options = [.cancelWhenSuperseded]
        let list = fixture.makeList(configuration: configuration)
        let window = await TestWindow(list, width: 100, height: 300)
        for offset in [0, 10_000, 2_000, 20_000] as [CGFloat] {
            list.scrollOffset = offset
            await window.nextFrame()
            await window.frames { list.seenCells.allSatisfy { $0.state == .loading } }
            let busy = list.binder.allCells.filter { $0.cell.imageView.kf.taskIdentifier != nil }
            #expect(!busy.isEmpty)
            #expect(busy.allSatisfy { $0.position != nil })
            #expect(busy.count < 40)
        }
        list.items = []
        #expect(list.binder.allCells.allSatisfy { $0.cell.imageView.kf.taskIdentifier == nil })
        await fixture.origin.waitForConnections(atMost: 0)
        fixture.releaseAll()
    }

    @Test func whatFollowsIsPrefetchedAndNoMore() async throws {
        let fixture = try await ListFixture(count: 100)
        let (list, window) = await complete(fixture) { $0.prefetchCount = 10 }
        let last = try #require(list.seenCells.last?.position)
        let ready = { list.binder.allCells.filter { $0.state == .shown }.compactMap(\.position) }
        await window.frames { ready().count == last + 1 + 10 }
        #expect(Set(ready()) == Set(0...last + 10))
        #expect(fixture.origin.requestCount == last + 1 + 10)
        #expect(fixture.origin.requests(for: "/\(last + 11).png").isEmpty)
    }

    @Test func withoutPrefetchingOnlyWhatIsSeenIsLoaded() async throws {
        let fixture = try await ListFixture(count: 100)
        let (list, window) = await complete(fixture) { $0.prefetchCount = 0 }
        #expect(fixture.origin.requestCount == list.seenCells.count)
        withExtendedLifetime(window) {}
    }

    @Test func whatIsSeenIsAskedForBeforeWhatWasPrefetched() async throws {
        let fixture = try await ListFixture(count: 300, isHeld: true)
        fixture.downloader.maximumConnectionsPerHost = 1
        let list = fixture.makeList()
        let window = await TestWindow(list, width: 100, height: 300)
        await window.frames {
            !list.seenCells.isEmpty && list.seenCells.allSatisfy { $0.state == .loading }
        }
        await fixture.origin.waitForRequests(1)
        let before = Set(list.seenCells.compactMap(\.position).map { "/\($0).png" })
        list.scrollOffset = 6000
        await window.nextFrame()
        await window.frames {
            !list.seenCells.isEmpty && list.seenCells.allSatisfy { $0.state == .loading }
        }
        let seen = Set(list.seenCells.compactMap(\.position).map { "/\($0).png" })
        fixture.releaseAll()
        await window.frames { list.isComplete }
        // Some of what was seen first was asked for before it was given up. Of what was only prefetched
        // at most one was asked for before what is seen now: it took the one connection in the moment
        // when the others had been given up and these were not asked for yet.
        let asked = fixture.origin.requests.map(\.path)
        let last = try #require(asked.lastIndex { seen.contains($0) })
        #expect(Set(asked[...last]).subtracting(before.union(seen)).count <= 1)
        #expect(seen.isSubset(of: asked))
    }

    @Test func imagesAreMadeForTheSizeOfTheCells() async throws {
        let fixture = try await ListFixture(count: 4, width: 400, height: 300)
        let (list, window) = await complete(fixture, cellSize: CGSize(width: 90, height: 90))
        let view = try #require(list.seenCells.first?.cell.imageView)
        let scale = Int(view.scaleFactor)
        // 90 points in steps of 32 pixels are 96.
        let expected = scale == 1 ? PixelSize(width: 96, height: 72) : view.image?.pixelSize
        #expect(view.image?.pixelSize == expected)
        #expect(fixture.cache.memoryStorageCacheCost <= 4 * 96 * 72 * 4 * scale * scale)
        withExtendedLifetime(window) {}
    }

    @Test func theSizeOfImagesMayBeGiven() async throws {
        let fixture = try await ListFixture(count: 2, width: 400, height: 300)
        let (list, window) = await complete(fixture) { $0.imageSize = .original }
        #expect(
            list.seenCells[0].cell.imageView.image?.pixelSize == PixelSize(width: 400, height: 300))
        withExtendedLifetime(window) {}
    }

    @Test func cellsWithoutASizeGetThatOfTheirImages() async throws {
        let fixture = try await ListFixture(count: 3, width: 40, height: 30)
        let (list, window) = await complete(fixture, cellSize: CGSize(width: 90, height: 0))
        #expect(
            list.seenCells.allSatisfy {
                $0.cell.imageView.image?.pixelSize == PixelSize(width: 40, height: 30)
            })
        withExtendedLifetime(window) {}
    }

    @Test func resultsAreTold() async throws {
        let fixture = try await ListFixture(count: 2)
        fixture.origin.route("/1.png", .status(404))
        var configuration = ImageCellConfiguration()
        let results = Locked<[Bool]>([])
        configuration.onResult = { _, result in
            results.withLock { $0.append((try? result.get()) != nil) }
        }
        let list = fixture.makeList(configuration: configuration)
        let window = await TestWindow(list, width: 90, height: 300)
        await window.frames { results.value.count == 2 }
        #expect(results.value.sorted { !$0 && $1 } == [false, true])
        #expect(list.seenCells.map(\.state) == [.shown, .failed])
    }

    @Test func aGridThatIsGoneLeavesNoCells() async throws {
        let fixture = try await ListFixture(count: 60)
        let count = LiveObjects()
        var cells: [WeakView] = []
        do {
            let list = fixture.makeList(.grid(columns: 2...4))
            let window = await TestWindow(list, width: 200, height: 300)
            await window.frames { list.isComplete }
            cells = list.binder.allCells.map { WeakView(view: $0.cell) }
            for cell in list.binder.allCells { count.watch(cell.cell) }
            #expect(!cells.isEmpty)
        }
        await count.waitUntilGone()
        #expect(cells.allSatisfy { $0.view == nil })
    }

    @Test func turnsOfTheWheelInOneFrameAreMadeTogether() async throws {
        let fixture = try await ListFixture(count: 400)
        let list = fixture.makeList(.grid(columns: 4...4))
        let window = await TestWindow(list, width: 300, height: 300)
        await window.frames { list.isComplete }
        // The first one is left to GTK.
        #expect(!list.pacing.holds(1, isWheel: true))
        for _ in 0..<9 { #expect(list.pacing.holds(1, isWheel: true)) }
        #expect(list.scrollOffset == 0)
        let expected = 9 * pow(300, 2.0 / 3)
        await window.frames { list.scrollOffset > 0 }
        #expect(abs(list.scrollOffset - expected) < 1)
        await window.frames { list.isComplete && list.seenCells.first?.position != 0 }
        #expect(try list.showsImagesOfTheirPlaces)
        await window.nextFrame()
        #expect(!list.pacing.holds(-1, isWheel: true))
        #expect(list.pacing.holds(-40, isWheel: false))
        await window.frames { abs(list.scrollOffset - expected + 100) < 1 }
    }

    @Test func anItemThatIsClickedIsActivated() async throws {
        let fixture = try await ListFixture(count: 9)
        let list = fixture.makeList(.grid(columns: 4...4))
        let window = await TestWindow(list, width: 300, height: 300)
        await window.frames { list.isComplete }
        let widget = try #require(
            list.seenCells.first.flatMap { Viewport.list(around: $0.cell) })
        func activate(_ position: UInt32) {
            gtk_widget_activate_action_variant(
                widget, "list.activate-item", g_variant_new_uint32(position))
        }
        activate(2)
        var chosen: [Int] = []
        list.onActivate = { chosen.append($0) }
        #expect(gtk_grid_view_get_single_click_activate(OpaquePointer(widget)) != 0)
        for position in [0, 7, 8] as [UInt32] { activate(position) }
        // Nothing is there.
        activate(11)
        #expect(chosen == [0, 7, 8])
        list.onActivate = nil
        #expect(gtk_grid_view_get_single_click_activate(OpaquePointer(widget)) == 0)
    }

    @Test func itemsHaveTheNamesOfTheirCells() async throws {
        let fixture = try await ListFixture(count: 3)
        let list = ImageCollectionView(
            .list, items: Array(0..<3), makeCell: { ImageView() },
            source: { fixture.origin.url("/\($0).png").convertToSource() },
            configure: { cell, index in cell.accessibleName = "picture \(index)" })
        let window = await TestWindow(list, width: 100, height: 100)
        for cell in list.binder.allCells {
            guard let position = cell.position, let item = gtk_widget_get_parent(cell.cell.widget)
            else { continue }
            #expect(cgtk_check_accessible_name(item, "picture \(position)") == nil)
        }
        #expect(list.binder.allCells.contains { $0.position == 2 })
        withExtendedLifetime(window) {}
    }

    private struct WeakView {
        weak var view: (any ImageCell)?
    }
}

@Suite struct ListWindowTests {
    /// What is wanted of a list when `ranges` of it have been seen, one after the other.
    private func upcoming(
        of count: Int, lookahead: Int = 8, after ranges: Range<Int>...
    ) -> [Int] {
        var window = ListWindow(lookahead: lookahead)
        for range in ranges { window.move(to: range) }
        return window.upcoming(of: count)
    }

    @Test func whatFollowsComesFirstAndAQuarterOfItLiesBehind() {
        let wanted = upcoming(of: 100, after: 0..<5, 10..<15)
        #expect(wanted == [15, 16, 17, 18, 19, 20, 21, 22, 9, 8])
    }

    @Test func theOtherDirectionIsFollowedAlsoByAListThatStandsStill() {
        let wanted = upcoming(of: 100, after: 50..<55, 40..<45)
        #expect(wanted == [39, 38, 37, 36, 35, 34, 33, 32, 45, 46])
        #expect(upcoming(of: 100, after: 50..<55, 40..<45, 40..<46).first == 39)
    }

    @Test func nothingIsWantedOutsideTheListWithoutASightOfItOrWithoutLookahead() {
        #expect(upcoming(of: 6, after: 0..<4) == [4, 5] && upcoming(of: 4, after: 0..<4) == [])
        #expect(upcoming(of: 0, after: 0..<4) == [] && upcoming(of: 10) == [])
        #expect(upcoming(of: 10, after: 3..<3) == [])
        #expect(upcoming(of: 10, lookahead: -1, after: 2..<4) == [])
    }
}
