import Foundation
import Synchronization

/// Why the last items could not be processed, which `processingFailed` has no room for.
///
/// With it the error's description tells the reason that there was, within the limits that held,
/// and decodes nothing a second time.
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

    /// Remembers why `processor` made nothing of `item`.
    func note(_ reason: any Error, of item: ImageProcessItem, by processor: any ImageProcessor) {
        let failure = Failure(
            item: ItemIdentity(item), processor: processor.identifier, reason: reason)
        failures.withLock { failures in
            if failures.count == Self.mostFailures { failures.removeFirst() }
            failures.append(failure)
        }
    }

    /// Why `processor` made nothing of `item`; `nil` when that is not known (any more).
    func reason(of item: ImageProcessItem, by processor: any ImageProcessor) -> (any Error)? {
        let (identity, identifier) = (ItemIdentity(item), processor.identifier)
        return failures.withLock { failures in
            failures.last { $0.item == identity && $0.processor == identifier }?.reason
        }
    }
}

/// The processor has returned `nil` for an item that can be decoded.
struct NoImage: Error {}

/// What makes two items the same as long as one of them exists: errors keep theirs.
private enum ItemIdentity: Hashable {
    case image(ObjectIdentifier)
    /// So few bytes have no address of their own.
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
    /// What is wrong with this item, of which a processor has made nothing under `options`: the header
    /// of a file is read again.
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

    /// Why rendering failed with `error`: a step fails, too, when the file is damaged that it works on.
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
