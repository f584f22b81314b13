import Halcyon

extension ImageStage {
    /// Those of the image server have the same names.
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
    /// For labels.
    var name: String {
        switch self {
        case .succeeded: "succeeded"
        case .failed: "failed"
        case .cancelled: "cancelled"
        }
    }

    /// Where the image was found, for labels.
    var cacheName: String {
        if case .succeeded(let cache) = self { cache.name } else { "none" }
    }
}
