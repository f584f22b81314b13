import Halcyon

extension ImageStage {
    /// The span name of the stage, the same as the image server's.
    var spanName: String {
        switch self {
        case .lookup: "halcyon.cache.read"
        case .fetch: "halcyon.fetch"
        case .queue: "halcyon.queue"
        case .process: "halcyon.process"
        case .decode: "halcyon.decode"
        case .store: "halcyon.cache.write"
        }
    }
}

extension RequestTrail.End {
    var name: String {
        switch self {
        case .succeeded: "succeeded"
        case .failed: "failed"
        case .cancelled: "cancelled"
        }
    }

    /// The cache in which the image was found, for labels.
    var cacheName: String { if case .succeeded(let cache) = self { cache.name } else { "none" } }
}
