import Foundation
import FoundationNetworking
import Halcyon

// A program as it is written for Kingfisher, with no other change than the import: delegates with
// state that are not Sendable, and what goes with them.

/// Counts what a downloader does.
final class DownloadStatistics: ImageDownloaderDelegate {
    private(set) var started: [URL] = []
    private(set) var receivedBytes = 0
    private(set) var failures = 0
    private(set) var lastImage: KFCrossPlatformImage?
    var acceptsRedirects = true

    func imageDownloader(
        _ downloader: ImageDownloader, willDownloadImageForURL url: URL, with request: URLRequest?
    ) {
        started.append(url)
    }

    func imageDownloader(
        _ downloader: ImageDownloader, didFinishDownloadingImageForURL url: URL,
        with response: URLResponse?, error: (any Error)?
    ) {
        if error != nil { failures += 1 }
    }

    func imageDownloader(_ downloader: ImageDownloader, didDownload data: Data, for url: URL)
        -> Data?
    {
        receivedBytes += data.count
        return data
    }

    func imageDownloader(
        _ downloader: ImageDownloader, didDownload image: KFCrossPlatformImage, for url: URL,
        with response: URLResponse?
    ) {
        lastImage = image
    }

    func isValidStatusCode(_ code: Int, for downloader: ImageDownloader) -> Bool {
        acceptsRedirects ? (200..<400).contains(code) : code == 200
    }

    func imageDownloader(_ downloader: ImageDownloader, didReceive response: URLResponse) async
        -> URLSession.ResponseDisposition
    {
        receivedBytes += 0
        return .allow
    }
}

/// Gives a password three times at most.
final class PasswordKeeper: AuthenticationChallengeResponsible {
    private var attempts = 0
    private let credential: URLCredential

    init(user: String, password: String) {
        credential = URLCredential(user: user, password: password, persistence: .forSession)
    }

    // Kingfisher's has a URLSessionTask here.
    func downloader(
        _ downloader: ImageDownloader, task: SessionDataTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        attempts += 1
        return attempts > 3 ? (.cancelAuthenticationChallenge, nil) : (.useCredential, credential)
    }
}

/// A screen of the program: it owns its delegates and shows what they know.
@MainActor final class PhotoScreen {
    private let downloader = ImageDownloader(name: "photos")
    private let statistics = DownloadStatistics()
    private let passwords = PasswordKeeper(user: "anna", password: "secret")
    private var selected: Set<KFCrossPlatformImage> = []
    private(set) var shown: KFCrossPlatformImage?

    init() {
        downloader.delegate = statistics
        downloader.authenticationChallengeResponder = passwords
    }

    func show(_ url: URL, cache: ImageCache) async throws {
        let manager = KingfisherManager(downloader: downloader, cache: cache)
        let result = try await manager.retrieveImage(
            with: url, options: [.processor(BlackWhiteProcessor()), .backgroundDecode])
        if result.image != shown { shown = result.image.kf.decoded }
        selected.insert(result.image.kf.decoded(scale: 2))
    }

    var summary: String {
        "\(statistics.started.count) started, \(statistics.receivedBytes) bytes, "
            + "\(statistics.failures) failed, \(selected.count) selected"
    }
}
