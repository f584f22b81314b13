import Foundation
import Halcyon

/// Collects what happens to the requests of a manager, from when it is made.
final class TraceRecording: Sendable {
    private let collecting: Task<[ImageEvent], Never>

    init(of manager: KingfisherManager) {
        let events = manager.events
        collecting = Task {
            var all: [ImageEvent] = []
            for await event in events { all.append(event) }
            return all
        }
    }

    /// Ends the recording and writes what has been recorded.
    /// - Throws: What names the file.
    func write(to path: String) async throws {
        // Ends the sequence behind the events that are in it.
        collecting.cancel()
        let events = await collecting.value
        try await BlockingWork.run {
            do {
                try PendingFile.write(Data(TraceDocument(events).text.utf8), to: path)
            } catch {
                throw Unwritten(path: path, reason: ErrorText.of(error))
            }
        }
    }

    private struct Unwritten: Error, CustomStringConvertible {
        let path: String
        let reason: String

        var description: String {
            "The trace “\(path.printable)” could not be written: \(reason)"
        }
    }
}
