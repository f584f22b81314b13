import Foundation
import Synchronization

/// The reasons of the last processing failures, for which `processingFailed` has no room.
///
/// With it the error's description gives the actual reason, under the limits that applied, without
/// decoding again.
final class ProcessingFailures: Sendable {
    static let shared = ProcessingFailures()

    /// Errors are described soon, if at all.
    private static let mostFailures = 64

    private struct Failure: Sendable {
        let item: ItemIdentity
        let processor: String
        let reason: any Error
    }

    private let failures = Mutex<[Failure]>([])

    func note(_ reason: any Error, of item: ImageProcessItem, by processor: any ImageProcessor) {
        let failure = Failure(
            item: ItemIdentity(item), processor: processor.identifier, reason: reason)
        failures.withLock { failures in
            if failures.count == Self.mostFailures { failures.removeFirst() }
            failures.append(failure)
        }
    }

    /// The reason why `processor` returned no image for `item`; `nil` if unknown or discarded.
    func reason(of item: ImageProcessItem, by processor: any ImageProcessor) -> (any Error)? {
        let (identity, identifier) = (ItemIdentity(item), processor.identifier)
        return failures.withLock { failures in
            failures.last { $0.item == identity && $0.processor == identifier }?.reason
        }
    }
}

/// The processor has returned `nil` for an item that can be decoded.
struct NoImage: Error {}

/// The identity of an item, valid while one of its copies exists: errors keep theirs.
private enum ItemIdentity: Hashable {
    case image(ObjectIdentifier)
    /// A few bytes, which have no address of their own.
    case few(Data)
    case bytes(address: Int, count: Int)

    init(_ item: ImageProcessItem) {
        switch item {
        case .image(let image): self = .image(ObjectIdentifier(image))
        case .data(let data) where data.count <= 64: self = .few(data)
        case .data(let data):
            self = data.withUnsafeBytes {
                .bytes(address: Int(bitPattern: $0.baseAddress), count: $0.count)
            }
        }
    }
}

extension ImageProcessItem {
    /// The reason why a processor returned no image for this item under `options`. Reads the file's
    /// header again.
    func fault(_ options: KingfisherParsedOptionsInfo) -> any Error {
        guard case .data(let data) = self else { return NoImage() }
        do {
            _ = try Image.decoding(
                data, options: ImageCreatingOptions(limits: options.imageCreatingOptions.limits))
            return NoImage()
        } catch {
            return error
        }
    }

    /// The cause of a rendering failure: a step also fails if the file it works on is damaged.
    func cause(of error: any Error, _ options: KingfisherParsedOptionsInfo) -> any Error {
        guard case .data(let data) = self, case .processing = error as? ImageCodingError else {
            return error
        }
        do {
            _ = try Image.decoding(data, options: options.imageCreatingOptions).bitmap()
        } catch let fault as ImageCodingError {
            if case .corrupt = fault { return fault }
        } catch {}
        return error
    }
}
