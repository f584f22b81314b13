import Foundation
import FoundationNetworking
import HalcyonTestKit

@testable import Halcyon

/// An asynchronous modifier that changes nothing, when its gate (if any) opens.
struct HeldModifier: AsyncImageDownloadRequestModifier {
    let gate: Gate?
    let onStarted: @Sendable () -> Void

    init(gate: Gate?, onStarted: @escaping @Sendable () -> Void = {}) {
        self.gate = gate
        self.onStarted = onStarted
    }

    func modified(for request: URLRequest) async -> URLRequest? {
        // Ends early when the request is cancelled.
        try? await gate?.wait()
        return request
    }

    var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? {
        { [onStarted] _ in onStarted() }
    }
}
