import Foundation
import Halcyon
import HalcyonGTK

enum FreshnessPage {
    @MainActor static func make(_ gallery: Gallery) -> View {
        let show = FreshnessShow(
            ChangingPictures(on: gallery.origin, samples: gallery.samples), cache: gallery.cache,
            downloader: KingfisherManager.shared.downloader, note: gallery.ledger.note)
        let server = TextButton(show.serverAction) { show.cutOffOrBringBack() }
        show.serverButton = server
        let page = Page(
            "Freshness", "HTTP caching. Each picture is asked for twice at the start.",
            buttons: [
                TextButton("Ask again") { show.ask() },
                TextButton("Change the pictures") { show.pictures.change() }, server,
            ], content: TileGrid(show.tiles, columns: 1...3))
        Signal.connect(UnsafeMutableRawPointer(page.widget), "map") { show.start() }
        Signal.connect(UnsafeMutableRawPointer(page.widget), "unmap") { show.stop() }
        return page
    }
}

/// The pictures of the page and the state of their stored responses.
@MainActor final class FreshnessShow {
    typealias Note = @MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void

    let pictures: ChangingPictures
    let tiles: [FreshnessTile]
    weak var serverButton: TextButton?

    private let cache: ImageCache
    private let downloader: ImageDownloader
    private let note: Note
    private var work: [Task<Void, Never>] = []
    private var isFirst = true

    /// The time between the first two requests, after which a response with `max-age=1` is stale.
    private static let pause = Duration.milliseconds(1500)

    init(
        _ pictures: ChangingPictures, cache: ImageCache, downloader: ImageDownloader,
        note: @escaping Note
    ) {
        self.pictures = pictures
        self.cache = cache
        self.downloader = downloader
        self.note = note
        tiles = ChangingPictures.rules.map { FreshnessTile($0) }
    }

    /// Updates the ages while the page is visible, and makes the first two requests once.
    func start() {
        stop()
        work = [
            Task { [weak self] in
                while !Task.isCancelled, let self {
                    await tellAges()
                    // Cancelled when the page is hidden.
                    try? await Task.sleep(for: .milliseconds(250))
                }
            }
        ]
        guard isFirst else { return }
        isFirst = false
        ask()
        work.append(
            Task { [weak self] in
                // As above.
                if (try? await Task.sleep(for: Self.pause)) != nil { self?.ask() }
            })
    }

    func stop() {
        for task in work { task.cancel() }
        work = []
    }

    func ask() {
        for (index, tile) in tiles.enumerated() {
            let builder = KF.url(pictures.url(index)).targetCache(cache).downloader(downloader)
            tile.load(builder, note)
        }
    }

    var serverAction: String {
        pictures.isReachable ? "Cut the server off" : "Bring the server back"
    }

    func cutOffOrBringBack() {
        pictures.isReachable.toggle()
        serverButton?.setTitle(serverAction)
    }

    func tellAges(at now: Date = Date()) async {
        // A failed read is repeated at the next update.
        guard let responses = try? await cache.httpResponses() else { return }
        for (index, tile) in tiles.enumerated() {
            let key = pictures.url(index).absoluteString
            tile.tell(of: responses.first { $0.key == key }, now: now)
        }
    }
}

/// A picture with its `Cache-Control`, its use of the cache, and its stored response.
final class FreshnessTile: Box {
    private let view = ImageView().fixed(width: 250, height: 170)
    private let useLabel = Label("", style: "use")
    private let ageLabel = Label("", style: "detail")
    private let validatorLabel = Label("", style: "detail")

    var use: String { useLabel.text }
    /// The age of the stored response and the end of its freshness.
    var age: String { ageLabel.text }
    var validator: String { validatorLabel.text }

    init(_ rule: ChangingPictures.Rule) {
        super.init(.column, spacing: 6)
        append(view.expand(vertically: false))
        append(
            Box(
                .column, spacing: 1,
                [
                    Label(rule.title, style: "tile-title"),
                    Label(rule.cacheControl, style: "detail"), useLabel, ageLabel, validatorLabel,
                ]))
    }

    func load(_ builder: KF.Builder, _ note: @escaping FreshnessShow.Note) {
        builder
            .httpCaching()
            .setProcessor(
                FittingImageProcessor(size: CGSize(width: 320, height: 240), mode: .aspectFill)
            )
            .keepCurrentImageWhileLoading()
            .onFailureImage(FailuresPage.brokenPicture)
            .transition(.fade(0.4))
            .onSuccess { [weak self] result in
                note(.success(result))
                self?.useLabel.show(result.httpCacheUse?.explanation ?? "")
            }
            .onFailure { [weak self] error in
                note(.failure(error))
                if !error.isTaskCancelled, !error.isNotCurrentTask {
                    self?.useLabel.show("error \(error.errorCode): the server has failed")
                }
            }
            .onRevalidated { [weak self] found in self?.useLabel.show(found.explanation) }
            .set(to: view)
    }

    func tell(of response: CachedHTTPResponse?, now: Date) {
        guard let response else {
            ageLabel.show("no answer is kept")
            return validatorLabel.show("")
        }
        let time = Self.clock.string(from: response.freshUntil)
        let until = response.isFresh(at: now) ? "fresh until \(time)" : "stale since \(time)"
        ageLabel.show("age \(Int(response.age(at: now))) s, \(until)")
        if let tag = response.value(of: "ETag") {
            validatorLabel.show("ETag \(tag)")
        } else if let date = response.value(of: "Last-Modified") {
            // Without the day of the week.
            validatorLabel.show("modified \(date.dropFirst(5))")
        }
    }

    private static let clock: DateFormatter = {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "HH:mm:ss"
        return formatter
    }()
}

extension HTTPCacheUse {
    fileprivate var explanation: String {
        switch self {
        case .fetched(stored: true): "fetched"
        case .fetched(stored: false): "fetched, not stored"
        case .fresh: "fresh: the server was not asked"
        case .validated: "validated: still the same"
        case .stale(.revalidating): "stale: being asked for"
        case .stale(.error): "stale: the server has failed"
        case .stale(.accepted): "stale"
        }
    }
}

extension HTTPRevalidation {
    fileprivate var explanation: String {
        switch self {
        case .unchanged: "shown stale, then found unchanged"
        case .changed: "shown stale, then replaced"
        case .failed: "shown stale; asking has failed"
        }
    }
}
