import Foundation
import NIOCore

struct WriteProgress {
    private let patience: TimeAmount
    private var left = 0
    private var since = NIODeadline.distantPast

    init(patience: TimeAmount) { self.patience = patience }

    var interval: TimeAmount { .nanoseconds(max(1_000_000, patience.nanoseconds / 4)) }

    /// - Parameter left: The number of unaccepted bytes.
    mutating func begin(_ left: Int, at now: NIODeadline) {
        self.left = left
        since = now
    }

    /// Whether nothing has been accepted for too long.
    mutating func isStuck(_ left: Int, at now: NIODeadline) -> Bool {
        if left != self.left {
            begin(left, at: now)
            return false
        }
        return now - since >= patience
    }
}

extension ChannelPipeline.SynchronousOperations {
    /// Bytes that the system has taken and the peer has not; `nil` if there is no socket.
    var bytesUnderWay: Int? {
        // Other transports have nothing to tell.
        try? withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { socket -> Int? in
            var count: CInt = 0
            return ioctl(socket, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : nil
        } ?? nil
    }
}
