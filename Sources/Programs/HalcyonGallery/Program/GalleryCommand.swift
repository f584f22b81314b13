import ArgumentParser
import Foundation
import Halcyon
import HalcyonWork

@main struct GalleryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "halcyon-gallery",
        abstract: "Shows Halcyon's views at work in a window.",
        usage: """
            halcyon-gallery [<source> ...] [--page <name>] [--zoom <factor>]
                   [--screenshot <file> [--at <seconds>]]
            """,
        discussion: """
            Without sources it shows the sample pictures, which it serves to itself over HTTP on \
            this machine; no network is needed. Give URLs, image files or folders to see your own \
            pictures, each once. A click opens one: the wheel, + and - zoom, dragging moves, 0 shows \
            all of it and 1 its own size; arrow keys show the next and the previous one, i tells about \
            the file, Esc goes back. Ctrl+O, Ctrl+V and dropped files add pictures, F11 fills the \
            screen, Ctrl+W and Ctrl+Q close the window.

            With --screenshot it shows one page, saves a picture of the window and ends:

              halcyon-gallery --page processors --screenshot processors.png

            A display is needed. Where there is none, Xvfb makes one:

              xvfb-run -a halcyon-gallery --page grid --screenshot grid.png
            """,
        version: Release.version)

    static func main() {
        DecodingWorker.runIfAsked()
        main(ProcessArguments.texts)
    }

    @Argument(
        help: ArgumentHelp(
            "URLs (http, https), image files or folders with images.", valueName: "source"))
    var sources: [String] = []

    @Option(
        help: ArgumentHelp(
            "The page to begin with: by default pictures, or grid for the samples.",
            valueName: "name"))
    var page: PageName?

    @Option(
        help: ArgumentHelp(
            "Pixels of the screen per pixel of a single picture; by default all of it is seen.",
            valueName: "factor"))
    var zoom: Double?

    @Option(
        help: ArgumentHelp("Save a picture of the window in this PNG and end.", valueName: "file"))
    var screenshot: String?

    @Option(
        help: ArgumentHelp(
            "When the picture is taken, after the window has appeared; 2 by default.",
            valueName: "seconds"))
    var at: Double?

    func validate() throws {
        _ = try request()
    }

    func run() throws {
        let request = try request()
        let code = MainActor.assumeIsolated { GalleryProgram(request).run() }
        // Images may still be decoded, and GTK's threads draw.
        ProgramEnd.skipsDestruction()
        if code != 0 { throw ExitCode(code) }
    }

    private func request() throws -> GalleryRequest {
        let (sources, problems) = try usableSources()
        if let zoom, !(zoom > 0) { throw ValidationError("--zoom takes a number above 0.") }
        guard let screenshot else {
            if at != nil {
                throw ValidationError("--at tells when --screenshot takes its picture.")
            }
            return GalleryRequest(sources: sources, problems: problems, page: page, zoom: zoom)
        }
        let file = URL(fileURLWithPath: screenshot)
        if screenshot.isEmpty { throw ValidationError("The name of the screenshot is empty.") }
        guard file.pathExtension.lowercased() == "png" else {
            throw ValidationError("The screenshot is a PNG, so its name has to end in .png.")
        }
        var isFolder: ObjCBool = false
        let folder = file.deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder),
            isFolder.boolValue
        else { throw ValidationError("There is no folder \(folder) for the screenshot.") }
        let seconds = at ?? 2
        guard (0...600).contains(seconds) else {
            throw ValidationError("--at takes seconds from 0 to 600.")
        }
        return GalleryRequest(
            sources: sources, problems: problems, page: page, zoom: zoom,
            screenshot: (file: file, delay: Duration.seconds(seconds)))
    }

    /// The sources that can be shown, and why others cannot.
    /// - Throws: `ValidationError` if there are none but others.
    private func usableSources() throws -> ([GallerySource], problems: [String]) {
        var usable: [GallerySource] = []
        var problems: [ValidationError] = []
        for text in sources {
            do { usable.append(try GallerySource(text)) } catch { problems.append(error) }
        }
        if usable.isEmpty, let first = problems.first { throw first }
        return (usable, problems.map(\.message))
    }
}

struct GalleryRequest: Sendable {
    /// The sources of pictures; empty for the samples.
    let sources: [GallerySource]
    /// The reasons why other sources cannot be shown.
    let problems: [String]
    /// `nil` for the usual one; a single file is then opened by itself.
    let page: PageName?
    /// The zoom of a single file; `nil` to show all of it.
    var zoom: Double?
    /// The screenshot to take some time after the window has appeared; `nil` keeps the window open
    /// until the user closes it.
    var screenshot: (file: URL, delay: Duration)?
}

/// A source of pictures, as given on the command line.
enum GallerySource: Hashable, Sendable {
    case web(URL)
    case file(FilePath)
    case folder(FilePath)

    init(_ text: String) throws(ValidationError) {
        if let scheme = text.range(of: "://").map({ text[..<$0.lowerBound].lowercased() }),
            scheme != "file"
        {
            guard scheme == "http" || scheme == "https" else {
                throw ValidationError("\(text): only http and https addresses are shown.")
            }
            guard let url = URL(string: text), url.host?.isEmpty == false else {
                throw ValidationError("\(text) is not a valid URL.")
            }
            self = .web(url)
            return
        }
        guard let path = Self.path(text), let status = try? path.status() else {
            let name = FilePath(argument: text)?.description ?? ""
            throw ValidationError("There is no file or folder \"\(name)\".")
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: self = .folder(path)
        case S_IFREG: self = .file(path)
        default:
            throw ValidationError("\(path.description) is neither a file nor a folder.")
        }
    }

    private static func path(_ text: String) -> FilePath? {
        guard text.lowercased().hasPrefix("file://") else { return FilePath(argument: text) }
        return URL(string: text).flatMap { FilePath($0) }
    }
}
