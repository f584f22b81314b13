import Foundation
import NIOCore

/// Whether a client takes what is written to it.
struct WriteProgress {
    /// The longest time in which nothing is taken.
    private let patience: TimeAmount
    private var left = 0
    private var since = NIODeadline.now()

    init(patience: TimeAmount) {
        self.patience = patience
    }

    /// How often to look.
    var interval: TimeAmount { .nanoseconds(max(1_000_000, patience.nanoseconds / 4)) }

    /// - Parameter left: Bytes that have not been taken.
    mutating func begin(_ left: Int) {
        self.left = left
        since = .now()
    }

    /// Whether nothing has been taken for too long.
    mutating func isStuck(_ left: Int) -> Bool {
        if left != self.left {
            begin(left)
            return false
        }
        return NIODeadline.now() - since >= patience
    }
}

extension ChannelPipeline.SynchronousOperations {
    /// Bytes that the system has taken and the other side has not; `nil` for what is no socket.
    var bytesUnderWay: Int? {
        // What cannot be asked has nothing to tell.
        try? withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { socket -> Int? in
            var count: CInt = 0
            return ioctl(socket, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : nil
        } ?? nil
    }
}
