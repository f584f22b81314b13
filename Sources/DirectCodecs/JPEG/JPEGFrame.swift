/// A frame header (SOF0…SOF2).
struct JPEGFrame {
    struct Component {
        let identifier: UInt8
        let horizontal: Int
        let vertical: Int
        /// Which quantisation table it has, 0…3.
        let quantizer: Int
    }

    let precision: UInt8
    let width: Int
    let height: Int
    let components: [Component]
    let isProgressive: Bool

    /// - Parameter segment: What follows the segment's length.
    init?(_ segment: UnsafeRawBufferPointer, isProgressive: Bool) {
        guard segment.count >= 6, segment.count == 6 + 3 * Int(segment[5]) else { return nil }
        precision = segment[0]
        height = Int(segment[1]) << 8 | Int(segment[2])
        width = Int(segment[3]) << 8 | Int(segment[4])
        components = (0..<Int(segment[5])).map { index in
            let factors = segment[7 + 3 * index]
            return Component(
                identifier: segment[6 + 3 * index], horizontal: Int(factors >> 4),
                vertical: Int(factors & 15), quantizer: Int(segment[8 + 3 * index]))
        }
        self.isProgressive = isProgressive
    }

    var isOrdinary: Bool {
        guard precision == 8, width > 0, height > 0, components.count == 1 || components.count == 3
        else { return false }
        let first = components[0]
        return components.allSatisfy {
            $0.quantizer < 4 && (1...4).contains($0.horizontal) && (1...4).contains($0.vertical)
                && first.horizontal % $0.horizontal == 0 && first.vertical % $0.vertical == 0
        }
    }

    /// Blocks of 8×8 samples that a component has along `length`, a side of the picture.
    /// - Parameters:
    ///   - factor: The component's sampling factor, 1 for units of all components.
    ///   - side: The direction.
    func blocks(_ length: Int, _ factor: Int, of side: KeyPath<Component, Int>) -> Int {
        let most = 8 * components[0][keyPath: side]
        return (length * factor + most - 1) / most
    }
}
