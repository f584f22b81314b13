/// A view that shows how much has arrived: as the placeholder of a `KFImage` it is told.
@MainActor public protocol ProgressView: View {
    /// Called as bytes arrive; the total is 0 until it is known.
    func showProgress(received: Int64, total: Int64)
}
