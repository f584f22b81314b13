import Halcyon

/// Counts where the images on show came from.
@MainActor final class Ledger {
    private(set) var memory = 0
    private(set) var disk = 0
    private(set) var loaded = 0
    private(set) var failed = 0

    func note(_ result: Result<RetrieveImageResult, KingfisherError>) {
        switch result {
        case .success(let value):
            switch value.cacheType {
            case .memory: memory += 1
            case .disk: disk += 1
            case .none: loaded += 1
            }
        case .failure(let error):
            // A load that another one has followed, or that was ended, is no failure.
            if !error.isTaskCancelled, !error.isNotCurrentTask { failed += 1 }
        }
    }
}
