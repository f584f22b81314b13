import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit

@testable import Halcyon
@testable import HalcyonGTK

/// A list of images, each of one colour that tells its place, from an origin of this process.
@MainActor final class ListFixture: LoadFixture {
    let count: Int
    /// What the answers wait for, by place; open unless the list is held.
    private let gates: [Gate]
    private(set) var bindings = 0

    init(count: Int, isHeld: Bool = false, width: Int = 8, height: Int = 8) async throws {
        self.count = count
        gates = (0..<count).map { _ in Gate() }
        try await super.init()
        for index in 0..<count {
            if !isHeld { gates[index].open() }
            let data = PNGFixture.data(.solid(Self.color(index), width: width, height: height))
            origin.route("/\(index).png", .png(data).with(.wait(.gate(gates[index]))))
        }
    }

    /// Lets the answer for an image go.
    func release(_ index: Int) { gates[index].open() }

    func releaseAll() { for gate in gates { gate.open() } }

    func makeList(
        _ layout: ImageCollectionView<Int>.Layout = .list,
        configuration: ImageCellConfiguration = ImageCellConfiguration(),
        cellSize: CGSize = CGSize(width: 40, height: 40)
    ) -> ImageCollectionView<Int> {
        var configuration = configuration
        configuration.options += [.targetCache(cache), .downloader(downloader)]
        return ImageCollectionView(
            layout, items: Array(0..<count), configuration: configuration,
            makeCell: {
                let view = FixedImageView()
                view.requestedSize = cellSize
                return view
            },
            source: { [origin] in origin.url("/\($0).png").convertToSource() },
            configure: { [weak self] _, _ in self?.bindings += 1 })
    }

    /// The colour of image `index`.
    static func color(_ index: Int) -> Pixel {
        Pixel(UInt8(index % 256), UInt8(index / 256), 128, 255)
    }
}

/// Asks for no more room than its requested size.
private final class FixedImageView: ImageView {
    override func measure(
        _ direction: Direction, other: CGFloat?
    ) -> (minimum: CGFloat, natural: CGFloat) { (0, 0) }
}

extension BoundCell {
    /// The place that the image on show belongs to; `nil` when there is none.
    var shownIndex: Int? {
        get throws {
            guard let image = cell.imageView.image else { return nil }
            let pixel = try image.bitmap().pixel(0, 0)
            return Int(pixel.red) + Int(pixel.green) * 256
        }
    }

    var isSeen: Bool { Viewport.list(around: cell).map { Viewport.shows(cell, in: $0) } ?? false }
}

extension ImageCollectionView {
    /// The cells that are seen, from above.
    var seenCells: [BoundCell] {
        binder.allCells.filter { $0.position != nil && $0.isSeen }
            .sorted { $0.position! < $1.position! }
    }

    /// Whether all cells that are seen show their images.
    var isComplete: Bool { !seenCells.isEmpty && seenCells.allSatisfy { $0.state == .shown } }

    /// Whether each cell that is seen shows the image of its place.
    var showsImagesOfTheirPlaces: Bool {
        get throws { try seenCells.allSatisfy { try $0.shownIndex == $0.position } }
    }

    /// The description of the cell that is seen first.
    var firstDescription: String? { seenCells.first?.cell.accessibleDescription }
}
