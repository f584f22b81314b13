import Foundation
import Halcyon

/// A recording of the request events of a manager, started by `init`.
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

    /// Ends the recording and writes the trace.
    /// - Throws: An error that names the file.
    func write(to path: String) async throws {
        // Ends the sequence after the events already in it.
        collecting.cancel()
        let events = await collecting.value
        try await BlockingWork.run {
            do {
                try PendingFile.write(Data(TraceDocument(events).text.utf8), to: path)
            } catch {
                let reason = ErrorText.of(error)
                throw CommandFailure(
                    description: "The trace “\(path.printable)” could not be written: \(reason)")
            }
        }
    }
}
