import Foundation
import Halcyon

/// The content of a button: image and background for its state.
@MainActor final class ButtonFace: Canvas {
    enum Layer {
        case background
        case image
    }

    private var sources: [Layer: [ControlState: PictureSource]] = [:]

    init() {
        super.init(role: .image)
    }

    var state: ControlState = .normal {
        didSet { if state != oldValue { setNeedsLayout() } }
    }

    var placement = PicturePlacement() {
        didSet { if placement != oldValue { setNeedsDisplay() } }
    }

    /// Returns the picture of the largest subset of the state that has one. Among subsets of equal
    /// size, the precedence is disabled, pressed, switched on, focused.
    func picture(in layer: Layer) -> Picture? {
        let suitable = sources[layer]?.filter { $0.key.isSubset(of: state) }
        return suitable?.max { $0.key.weight < $1.key.weight }?.value.picture
    }

    subscript(layer: Layer, state: ControlState) -> KFCrossPlatformImage? {
        get { sources[layer]?[state]?.image }
        set {
            let source =
                sources[layer]?[state] ?? PictureSource { [weak self] in self?.setNeedsLayout() }
            source.image = newValue
            sources[layer, default: [:]][state] = newValue == nil ? nil : source
            setNeedsLayout()
        }
    }

    override func draw(in snapshot: Snapshot) {
        if let background = picture(in: .background) {
            snapshot.draw(
                background, placement: PicturePlacement(mode: .stretch), size: size,
                scaleFactor: scaleFactor)
        }
        if let image = picture(in: .image) {
            snapshot.draw(image, placement: placement, size: size, scaleFactor: scaleFactor)
        }
    }

    /// As large as the larger of both pictures, and smaller if need be.
    override func measure(
        _ direction: Direction, other: CGFloat?
    ) -> (minimum: CGFloat, natural: CGFloat) {
        let sizes = [Layer.image, .background].compactMap { picture(in: $0)?.size }
        return (0, sizes.map { direction == .horizontal ? $0.width : $0.height }.max() ?? 0)
    }
}

extension ControlState {
    /// The precedence: first by the number of states, then by the more important one.
    fileprivate var weight: Int {
        let order: [ControlState] = [.focused, .selected, .highlighted, .disabled]
        let present = order.indices.filter { isSuperset(of: order[$0]) }
        return present.count * 16 + present.reduce(0) { $0 + (1 << $1) }
    }
}
