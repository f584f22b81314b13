/// A store whose memory part is done.
enum PendingStore: Sendable {
    /// The disk was not to be written.
    case finished(CacheStoreResult)
    /// The disk is being written.
    case writing(Task<CacheStoreResult, Never>)

    /// The result, when the disk has been written.
    var result: CacheStoreResult {
        get async {
            switch self {
            case .finished(let result): result
            case .writing(let task): await task.value
            }
        }
    }
}
