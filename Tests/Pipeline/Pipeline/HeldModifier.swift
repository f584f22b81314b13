import Foundation
import FoundationNetworking
import HalcyonTestKit

@testable import Halcyon

/// An asynchronous modifier that sets fields, if any, when its gate (if any) opens.
struct HeldModifier: AsyncImageDownloadRequestModifier {
    let gate: Gate?
    let fields: [String: String]
    let onStarted: @Sendable () -> Void

    init(
        gate: Gate?, fields: [String: String] = [:], onStarted: @escaping @Sendable () -> Void = {}
    ) {
        self.gate = gate
        self.fields = fields
        self.onStarted = onStarted
    }

    func modified(for request: URLRequest) async -> URLRequest? {
        // Ends early when the request is cancelled.
        try? await gate?.wait()
        var request = request
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? {
        { [onStarted] _ in onStarted() }
    }
}
