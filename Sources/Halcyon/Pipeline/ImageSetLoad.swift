/// Loads a set of images, a few at a time.
struct ImageSetLoad: Sendable {
    /// An image of the set.
    struct Item: Sendable {
        let source: Source
        let options: KingfisherParsedOptionsInfo
    }

    typealias Outcome = Result<RetrieveImageResult, KingfisherError>

    let items: [Item]
    /// The most images in work at one time.
    let limit: Int
    /// Whether the first failure ends the other loads.
    let stopsAtFailure: Bool
    let task: ImageSetTask
    private let progress: ImageSetProgressReporter?

    init(
        _ items: [Item], limit: Int, stopsAtFailure: Bool, task: ImageSetTask = ImageSetTask(),
        progress: ImageSetProgressBlock?
    ) {
        self.items = items
        self.limit = max(1, limit)
        self.stopsAtFailure = stopsAtFailure
        self.task = task
        self.progress = ImageSetProgressReporter(count: items.count, progress)
    }

    /// What became of each image, in the order of the set, and the failure that came first.
    func run() async -> (outcomes: [Outcome], firstFailure: KingfisherError?) {
        var outcomes = [Outcome?](repeating: nil, count: items.count)
        var firstFailure: KingfisherError?
        await withTaskGroup(of: (Int, Outcome).self) { group in
            var next = 0
            func begin() {
                guard next < items.count else { return }
                let index = next
                next += 1
                // What is in memory is there at once, and downloads begin before anything waits.
                group.addImmediateTask { (index, await load(index)) }
            }
            for _ in 0..<limit { begin() }
            while let (index, outcome) = await group.next() {
                outcomes[index] = outcome
                progress?.complete()
                if case .failure(let error) = outcome {
                    firstFailure = firstFailure ?? error
                    if stopsAtFailure { task.cancel() }
                }
                begin()
            }
        }
        return (outcomes.compactMap { $0 }, firstFailure)
    }

    /// The images of the set, or the failure that came first.
    func images() async -> Result<[RetrieveImageResult], KingfisherError> {
        let (outcomes, firstFailure) = await run()
        if let firstFailure { return .failure(firstFailure) }
        return .success(outcomes.compactMap { try? $0.get() })
    }

    private func load(_ index: Int) async -> Outcome {
        let item = items[index]
        let request = ImageRequest(
            source: item.source, options: item.options, progress: progress?.progress(of: index),
            probing: .onItsOwnThread)
        guard task.add(request.handle, at: index) else {
            return .failure(.requestError(reason: .asyncTaskContextCancelled))
        }
        let outcome = await request.run()
        task.remove(index)
        return outcome
    }
}
