extension ImageServer {
    private static let cleaningInterval = Duration.seconds(3600)

    /// Removes from the disk what nobody has used for too long, once in an hour, until the task is cancelled.
    func cleanFromTimeToTime() async {
        while true {
            do {
                try await Task.sleep(for: Self.cleaningInterval)
            } catch {
                return
            }
            await clean()
        }
    }

    /// Removes from the disk what nobody has used for too long.
    func clean() async {
        await sources.remote?.known.clean()
        await makers.results.clean()
    }
}
