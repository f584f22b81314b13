import Foundation
import Halcyon

/// Runs the example that the first argument names: `swift run HalcyonExamples thumbnail bird.jpg 400 small.webp`.
@main enum Examples {
    @MainActor static func main() {
        // First of all: files of foreign formats are decoded in processes that are copies of this one.
        DecodingWorker.runIfAsked()
        let arguments = Array(CommandLine.arguments.dropFirst(2))
        let urls = arguments.map { URL(argument: $0) }
        switch CommandLine.arguments.dropFirst().first {
        case "thumbnail": run { await Thumbnail.run(arguments) }
        case "uploads": run { await UploadServer.run(folder: arguments.first ?? "uploads") }
        case "diary": run { await TravelDiary.run(arguments) }
        case "window": exit(PictureWindow.run(urls))
        case "photos": exit(PhotoGrid.run(urls))
        case "tour": exit(FeatureTour.run(urls))
        default:
            complain(
                """
                usage: HalcyonExamples thumbnail SOURCE SIZE OUTPUT
                       HalcyonExamples uploads [FOLDER]
                       HalcyonExamples diary FRAME PHOTO PHOTO PHOTO PHOTO OUTPUT
                       HalcyonExamples window PICTURE
                       HalcyonExamples photos PICTURE...
                       HalcyonExamples tour PICTURE
                """)
            exit(64)
        }
    }

    /// Keeps the main thread for the main actor until the example has ended.
    private static func run(_ example: @escaping @Sendable () async -> Int32) -> Never {
        Task { exit(await example()) }
        dispatchMain()
    }
}

extension URL {
    /// A URL or the path of a file.
    init(argument: String) {
        let url = argument.contains("://") ? URL(string: argument) : nil
        self = url ?? URL(fileURLWithPath: argument)
    }
}

/// Writes a line to standard error.
func complain(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
}
