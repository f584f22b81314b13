import HalcyonGTK

/// A page: a title, a sentence, perhaps buttons, and below them the content.
final class Page: Box {
    /// - Parameter fills: Whether the content scrolls by itself and takes all the room.
    init(
        _ title: String, _ text: String, buttons: [View] = [], content: View, fills: Bool = false
    ) {
        let words = Box(
            .column, spacing: 4,
            [Label(title, style: "page-title"), Label(text, style: "page-text")])
        let head = Box(.row, spacing: 8, [words.expand(vertically: false)] + buttons)
        super.init(.column)
        expand()
        if fills {
            append(head.margins(24, 16))
            append(content.expand())
        } else {
            append(Scroller(Box(.column, spacing: 20, [head, content]).margins(24, 18)))
        }
    }
}
