import DirectCodecs
import Foundation

extension PNGStructure {
    /// Walks the chunks of a PNG file before it is given to a decoder.
    ///
    /// - Throws: `ImageCodingError` for a file that claims more than it has, or whose metadata would take
    ///   too much memory.
    @discardableResult
    static func check(_ data: Data) throws(ImageCodingError) -> PNGStructure {
        let walked = data.withUnsafeBytes { bytes in
            Result { () throws(PNGRefusal) in try PNGStructure(bytes) }
        }
        switch walked {
        case .success(let structure): return structure
        case .failure(.unusual(let reason)): throw .unsupported(.PNG, reason: reason)
        case .failure(.damaged(let reason)): throw .corrupt(.PNG, reason: reason)
        case .failure(.outOfMemory):
            throw .corrupt(.PNG, reason: "there is no memory to read it")
        }
    }
}
