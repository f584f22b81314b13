import CGtk4
import Foundation
import Halcyon
import HalcyonGTK
import HalcyonWork

/// One picture of the gallery, to be looked at closely, with what is known of its file.
final class PictureViewer: Box {
    let view: ZoomableImageView
    let pane: SidePane
    private let gallery: Gallery
    private let close: @MainActor () -> Void
    private let caption = Label("", style: "tile-title")
    private let message = Label("", style: "failure", lines: 6)
    private let information: Label
    private let frames = Box(.row, spacing: 6)
    private let frameLabel = Label("", style: "figure")
    private lazy var playButton = TextButton("Pause") { [weak self] in self?.playOrPause() }
    private(set) var picture: Picture?
    private var loading: Task<Void, Never>?

    var informationText: String { information.text }
    var messageText: String { message.text }
    var frameText: String { frameLabel.text }

    /// - Parameter close: Goes back to the pages.
    init(_ gallery: Gallery, close: @escaping @MainActor () -> Void) {
        self.gallery = gallery
        self.close = close
        let (view, information) = (
            ZoomableImageView(), Label("", style: "information", lines: 40)
        )
        (self.view, self.information) = (view, information)
        gtk_label_set_selectable(OpaquePointer(information.gtkWidget), 1)
        pane = SidePane(
            side: Scroller(information.margins(16)), main: view.expand(), width: 280,
            isAtEnd: true, isOptional: true)
        super.init(.column)
        let buttons: [View] = [
            TextButton("Back", close),
            TextButton("‹") { [weak self] in self?.move(by: -1) }.named("Previous picture"),
            TextButton("›") { [weak self] in self?.move(by: 1) }.named("Next picture"),
            caption.expand(vertically: false),
            TextButton("Info") { [weak self] in self?.toggleInformation() }.named("Information"),
        ]
        append(Box(.row, spacing: 6, buttons).margins(8, 6))
        append(message.margins(16, 6))
        append(pane.expand())
        let controls: [View] = [
            TextButton("|‹") { [weak self] in self?.step(by: -1) }.named("Previous frame"),
            playButton,
            TextButton("›|") { [weak self] in self?.step(by: 1) }.named("Next frame"), frameLabel,
        ]
        for control in controls { frames.append(control) }
        append(frames.margins(8, 6))
        message.isHidden = true
        frames.isHidden = true
        view.style("bare")
        view.onChange = { [weak self] in self?.viewChanged() }
        view.onFailure = { [weak self] in self?.tell($0) }
        takeKeys()
    }

    isolated deinit {
        loading?.cancel()
    }

    private func takeKeys() {
        Shortcut.add(
            to: self, of: self,
            [
                .always("Left|Page_Up|BackSpace|p") { $0.move(by: -1) },
                .always("Right|Page_Down|n") { $0.move(by: 1) },
                .always("space") { $0.frames.isHidden ? $0.move(by: 1) : $0.playOrPause() },
                .always("comma") { $0.step(by: -1) }, .always("period") { $0.step(by: 1) },
                .always("i|<Alt>Return") { $0.toggleInformation() },
            ])
    }

    // MARK: The picture

    func show(_ picture: Picture) {
        self.picture = picture
        loading?.cancel()
        caption.show(picture.title)
        view.accessibleName = picture.title
        information.show("")
        message.isHidden = true
        frames.isHidden = true
        gtk_widget_grab_focus(view.gtkWidget)
        loading = Task { [weak self] in
            do {
                try await self?.load(picture)
            } catch is CancellationError {
                // Another picture has followed.
            } catch {
                guard let self, self.picture == picture, !Task.isCancelled else { return }
                view.image = nil
                tell(error)
            }
        }
    }

    /// Waits until the picture is shown, or cannot be.
    func loaded() async { await loading?.value }

    /// Ends what is being done for the picture, and lets its pixels go.
    func clear() {
        loading?.cancel()
        picture = nil
        view.image = nil
    }

    private func load(_ picture: Picture) async throws {
        if let file = picture.file {
            let data = try await Self.contents(of: file)
            try Task.checkCancellation()
            async let lines = Self.lines(of: data)
            information.show("\(file.description)\n\n" + (await lines).joined(separator: "\n"))
            try await view.show(data)
        } else {
            let result = try await KingfisherManager.shared.retrieveImage(with: picture.url)
            try Task.checkCancellation()
            view.image = result.image
            let facts = try await KingfisherManager.shared.downloader.information(of: picture.url)
            information.show(
                "\(picture.url.absoluteString)\n\n" + facts.lines.joined(separator: "\n"))
        }
        showControls()
    }

    /// The bytes of the file, not mapped: one that shrinks while it is shown would end the program.
    @concurrent nonisolated private static func contents(of file: FilePath) async throws -> Data {
        try file.read()
    }

    @concurrent nonisolated private static func lines(of data: Data) async -> [String] {
        do {
            return try ImageInformation(of: data).lines
        } catch {
            return [error.localizedDescription]
        }
    }

    private func tell(_ error: any Error) {
        message.show("\(picture?.title ?? ""): \(error.localizedDescription)")
        message.isHidden = false
    }

    func move(by count: Int) {
        guard let picture, let next = gallery.picture(picture, movedBy: count) else { return }
        show(next)
    }

    func toggleInformation() {
        pane.showsSide.toggle()
    }

    private func viewChanged() {
        guard let picture else { return }
        let percent = Int((view.zoom * 100).rounded())
        caption.show("\(picture.title), \(percent) %")
    }

    // MARK: Animation

    private func showControls() {
        frames.isHidden = (view.image?.frameCount ?? 1) < 2
        updateControls()
    }

    private func updateControls() {
        playButton.setTitle(view.isAnimating ? "Pause" : "Play")
        guard let animator = view.animator, !view.isAnimating else { return frameLabel.show("") }
        frameLabel.show("frame \(animator.currentFrameIndex + 1) of \(animator.frameCount)")
    }

    func playOrPause() {
        if view.isAnimating { view.stopAnimating() } else { view.startAnimating() }
        updateControls()
    }

    func step(by count: Int) {
        guard let animator = view.animator else { return }
        let index = animator.currentFrameIndex + count + animator.frameCount
        view.showFrame(index % animator.frameCount)
        updateControls()
    }
}
