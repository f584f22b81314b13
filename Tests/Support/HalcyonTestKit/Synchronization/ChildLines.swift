import Foundation
import Glibc
import HalcyonWork

/// The lines that a child process writes, as they come.
public final class ChildLines: Sendable {
    private struct State {
        var lines: [String] = []
        var hasEnded = false
    }

    private let state = Observed(State())

    private init() {}

    /// Starts a child, and reads its output on a separate thread until all writers have closed it.
    ///
    /// - Parameter start: Starts the child with `descriptor` as its standard output, standard
    ///   error, or both.
    public static func of(
        _ start: (_ descriptor: Int32) throws -> ChildProcess
    ) throws -> (child: ChildProcess, lines: ChildLines) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        // Other children do not inherit it.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[1]) }
        let child: ChildProcess
        do {
            child = try start(ends[1])
        } catch {
            close(ends[0])
            throw error
        }
        let lines = ChildLines()
        Thread.detachNewThread { [reading = ends[0]] in lines.read(from: reading) }
        return (child, lines)
    }

    /// The lines so far. The last one may be incomplete only at the end of the output.
    public var all: [String] { state.value.lines }

    /// Waits for a line that contains `text`.
    ///
    /// - Returns: The first such line; `nil` when the child has ended without one, or the waiting task is
    ///   cancelled.
    @discardableResult
    public func line(containing text: String) async -> String? {
        @Sendable func found(_ state: State) -> String? { state.lines.first { $0.contains(text) } }
        return await state.wait { $0.hasEnded || found($0) != nil }.flatMap(found)
    }

    private func read(from descriptor: Int32) {
        var rest: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = block.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            rest += block[..<count]
            guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { continue }
            let lines = Self.lines(rest[..<end])
            rest.removeSubrange(...end)
            state.update { $0.lines += lines }
        }
        close(descriptor)
        let last = rest.isEmpty ? [] : Self.lines(rest[...])
        state.update {
            $0.lines += last
            $0.hasEnded = true
        }
    }

    private static func lines(_ bytes: ArraySlice<UInt8>) -> [String] {
        bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}
