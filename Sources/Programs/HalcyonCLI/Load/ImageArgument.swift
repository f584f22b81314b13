import ArgumentParser
import Foundation
import Halcyon
import HalcyonHTTP
import HalcyonWork

/// A source as it was given on the command line.
struct ImageArgument: Sendable {
    /// The text that was given; the URL of a file whose name is not valid text.
    let text: String
    /// The source of the image, or the failure to make one.
    let source: Result<Source, LoadFailure>
    /// `nil` for sources that are no files.
    let file: FilePath?
    /// The folder of a file below the one that it was found in: empty, or with a slash at its end.
    var folder: [UInt8] = []

    /// An `http` or `https` URL, a `file` URL or path, or a `data:` URI.
    init(_ text: String) {
        if DataURI.isScheme(of: text) {
            self.text = text
            source = Self.dataSource(text)
            file = nil
        } else if let scheme = Self.scheme(of: text), scheme != "file" {
            self.text = text
            source = Self.networkSource(text, scheme: scheme)
            file = nil
        } else {
            let found = Self.file(text)
            self.text = text.isEscaped ? found?.url.absoluteString ?? text : text
            source = Self.fileSource(found?.url, text)
            file = found?.path
        }
    }

    init(file path: FilePath) {
        text = path.urlText
        source = Self.fileSource(path.url, text)
        file = path
    }

    /// - Parameter root: The folder that the file was found in; `path` begins with it.
    init(file path: FilePath, below root: FilePath) {
        self.init(file: path)
        let folder = path.bytes[root.bytes.count..<path.lastComponent.startIndex]
        self.folder = Array(folder.drop { $0 == UInt8(ascii: "/") })
    }

    init(standardInput data: Data) {
        text = "-"
        source = .success(.provider(Self.provider(of: data)))
        file = nil
    }

    init(_ text: String, failure: LoadFailure) {
        self.text = text
        source = .failure(failure)
        file = nil
    }

    /// Something in a folder that cannot be looked at.
    init(_ failure: FilePath.Failure) {
        self.init(
            failure.path.urlText,
            failure: LoadFailure(code: LoadFailure.unreadable, message: failure.description))
    }

    /// Returns the files in a folder and the folders below it; those that cannot be looked at are failures.
    static func files(
        in root: FilePath, includesLinks: Bool, where isWanted: (FilePath) -> Bool = { _ in true }
    ) -> [ImageArgument] {
        let listing = FolderListing(below: root, includesLinks: includesLinks)
        let files = listing.files.filter(isWanted).map { ImageArgument(file: $0, below: root) }
        return files + listing.failures.map { ImageArgument($0) }
    }

    /// The name of the source's file, or the one that its URL makes.
    var name: FileName {
        if let file { return FileName(file.lastComponent) }
        if text == "-" { return FileName("stdin".utf8) }
        // What has no name is not written.
        switch try? source.get() {
        case nil: return FileName(safe: "")
        case .network(let resource):
            let url = resource.downloadURL
            let name = url.lastPathComponent
            let isNamed = !name.isEmpty && name != "/"
            return FileName(safe: isNamed ? name : url.host ?? "")
        case .provider(let provider):
            // The first digits of the digest.
            return FileName(safe: "data-\(provider.cacheKey.suffix(64).prefix(12))")
        }
    }

    /// Whether it is another source than a file, as far as it is one.
    var isNoFile: Bool { file == nil && (try? source.get()) != nil }

    /// The text for people: without secrets, and with long data URIs shortened.
    var label: String {
        guard DataURI.isScheme(of: text) else { return text.maskingSecrets }
        return text.count > 60 ? text.prefix(40) + "…" : text
    }

    var shortName: String {
        if DataURI.isScheme(of: text) { return "data:…" }
        let name = label.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").last
        return name.map(String.init) ?? label
    }

    var isFolder: Bool { file?.isFolder ?? false }

    /// The URL that was meant, perhaps, by a file that is called like one and is not there.
    var meantURL: String? {
        guard !DataURI.isScheme(of: text), Self.scheme(of: text) == nil,
            let host = text.prefixMatch(of: Self.host),
            ImageFormat(fileExtension: String(host.1)) == nil,
            access(String(host.0.dropLast()), F_OK) != 0
        else { return nil }
        return "https://\(text)".maskingSecrets
    }

    /// The name of a host with a slash behind it, and its last label.
    private static var host: Regex<(Substring, Substring)> {
        /(?:[a-z0-9\-]+\.)+([a-z]{2,})(?::[0-9]+)?\//.ignoresCase()
    }

    private static func dataSource(_ text: String) -> Result<Source, LoadFailure> {
        do {
            return .success(.provider(provider(of: try DataURI(text).data)))
        } catch {
            return .failure(bad(ErrorText.of(error)))
        }
    }

    private static func provider(of data: Data) -> RawImageDataProvider {
        RawImageDataProvider(
            data: data, cacheKey: "data:sha256:\(Digest.sha256.hexadecimal(data))")
    }

    private static func networkSource(
        _ text: String, scheme: String
    ) -> Result<Source, LoadFailure> {
        guard scheme == "http" || scheme == "https" else {
            let problem = "\(scheme) is not a scheme that images are loaded from; "
            return .failure(bad(problem + "http, https, file and data are."))
        }
        guard let url = URL(string: text), url.host?.isEmpty == false else {
            return .failure(bad("This is not a valid URL: \(text.maskingSecrets)"))
        }
        var resource: any Resource = KF.ImageResource(downloadURL: url)
        if let written = WrittenURL(url, as: text) { resource = written }
        return .success(.network(resource))
    }

    /// Returns the file of a `file` URL or a path.
    private static func file(_ text: String) -> (url: URL, path: FilePath)? {
        let bytes = text.unescapedBytes
        if scheme(of: text) != "file" {
            return FilePath(bytes: bytes).map {
                (text.isEscaped ? $0.url : URL(fileURLWithPath: text), $0)
            }
        }
        // The URL may contain raw bytes that are not valid text.
        let written = text.isEscaped ? PercentEncoding.encode(bytes, keeping: keptInURLs) : text
        guard let url = URL(string: written), let path = FilePath(url) else { return nil }
        return (url, path)
    }

    private static let keptInURLs = "%/:?#[]@!$&'()*+,;="

    private static func fileSource(_ url: URL?, _ text: String) -> Result<Source, LoadFailure> {
        guard let url else { return .failure(bad("This is not a file: \(text)")) }
        // The key of the file's current version, even if it changes later.
        return .success(
            .provider(LocalFileImageDataProvider(fileURL: url, cacheKey: url.cacheKey)))
    }

    private static func bad(_ message: String) -> LoadFailure {
        LoadFailure(code: LoadFailure.badSource, message: message)
    }

    /// The scheme in lower case of a text with `://` in it.
    private static func scheme(of text: String) -> String? {
        guard let end = text.range(of: "://")?.lowerBound, end != text.startIndex else {
            return nil
        }
        let scheme = text[..<end].lowercased()
        let allowed = "abcdefghijklmnopqrstuvwxyz0123456789+-."
        return scheme.utf8.allSatisfy(allowed.utf8.contains) ? scheme : nil
    }
}

/// A URL as text: a parsed one whose parts were read takes six times as much memory.
private struct WrittenURL: Resource {
    let cacheKey: String

    /// `nil` if the text of `url` parses to another URL. `text` is the text it was parsed from.
    init?(_ url: URL, as text: String) {
        let key = url.absoluteString
        guard URL(string: key) == url else { return nil }
        // Shares the storage of an equal text.
        cacheKey = key == text ? text : key
    }

    // The initializer has checked that it parses.
    var downloadURL: URL { URL(string: cacheKey)! }
}

extension ImageProcessorSpec {
    /// Parses the values of `--processor`; `nil` if there are none.
    static func parse(option values: [String]) throws(ValidationError)
        -> (any ImageProcessor)?
    {
        guard !values.isEmpty else { return nil }
        do {
            return try parse(values)
        } catch {
            throw ValidationError("--processor: \(error)")
        }
    }
}
