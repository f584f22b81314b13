extension Result {
    /// Keeps what `body` returns or throws: the standard library has this only for work without `await`.
    @inlinable
    package init(catching body: () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
