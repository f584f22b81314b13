import CGtk4
import Foundation
import Halcyon

@MainActor final class BoundCell {
    enum State {
        /// There is nothing to load.
        case empty
        /// Not requested, or no longer.
        case waiting
        case loading
        case shown
        case failed
    }

    let cell: any ImageCell
    /// The `GtkListItem`, which outlives this.
    let pointer: OpaquePointer
    private let configure: @MainActor (ListItem) -> Void

    private(set) var source: Source?
    private(set) var state = State.empty
    /// The number of the current binding, which tells its loads from those of earlier ones.
    private var binding = 0

    init(
        _ cell: any ImageCell, pointer: OpaquePointer,
        configure: @escaping @MainActor (ListItem) -> Void
    ) {
        self.cell = cell
        self.pointer = pointer
        self.configure = configure
    }

    /// The cell's place in the list, if it is bound.
    var position: Int? { ListItem(pointer)?.position }

    /// Binds the cell to `item`. The view keeps its content until `wait` or `load`.
    func bind(to item: ListItem, source: Source?) {
        binding += 1
        self.source = source
        configure(item)
    }

    func wait(showing placeholder: (any Placeholder)?) {
        state = source == nil ? .empty : .waiting
        cell.imageView.endAnimation()
        cell.imageView.kf.setImage(with: nil as Source?, placeholder: placeholder)
    }

    /// Loads the image; a placeholder stays until it comes.
    func load(
        _ options: KingfisherOptionsInfo,
        result: @escaping @MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void
    ) {
        guard let source else { return }
        state = .loading
        let binding = binding
        cell.imageView.kf.setImage(
            with: source, options: options + [.keepCurrentImageWhileLoading]
        ) { [weak self] outcome in
            guard let self, self.binding == binding, state == .loading else { return }
            switch outcome {
            case .success: state = .shown
            case .failure: state = .failed
            }
            result(outcome)
        }
    }

    /// Ends the load. The last image stays, so that the next one can follow without a gap.
    func unbind() {
        binding += 1
        if state == .loading {
            cell.imageView.endAnimation()
            // Whatever the load reports, the view no longer listens.
            cell.imageView.kf.setImage(with: nil as Source?)
        }
        source = nil
        state = .empty
    }
}
