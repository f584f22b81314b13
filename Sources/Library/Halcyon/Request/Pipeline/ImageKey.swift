import HalcyonStorage
import Synchronization

/// The cache key of an image, made once for each request that misses in memory.
///
/// An object, like `LookupKey`, since a request passes it on a dozen times: a copy costs only a
/// reference count.
final class ImageKey: Hashable, Sendable {
    /// The key of the source.
    let source: String
    /// The processor's identifier; empty for the original.
    let processor: String
    let forcedExtension: String?
    /// Source key and processor identifier as one text, in the form of the public API.
    let text: String
    private let name = Mutex<String?>(nil)

    init(_ source: String, processor: String = "", forcedExtension: String? = nil) {
        self.source = source
        self.processor = processor
        self.forcedExtension = forcedExtension
        text = source.computedKey(with: processor)
    }

    /// The key of a source's image under these options.
    convenience init(_ source: String, _ options: KingfisherParsedOptionsInfo) {
        self.init(
            source, processor: options.processor.identifier,
            forcedExtension: options.forcedExtension)
    }

    /// Its variant in the index; `nil` for the original.
    var variant: FileVariant? {
        processor.isEmpty ? nil : FileVariant(source: source, processor: processor)
    }

    /// Returns the name of the file in `cache`; its digest is computed on first use.
    func fileName(in cache: ImageCache) -> String {
        if let name = name.withLock({ $0 }) { return name }
        let made = cache.diskStorage.cacheFileName(
            forKey: text, forcedExtension: forcedExtension)
        name.withLock { $0 = made }
        return made
    }

    static func == (left: ImageKey, right: ImageKey) -> Bool {
        left === right
            || left.text == right.text && left.processor == right.processor
                && left.forcedExtension == right.forcedExtension
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(text)
    }
}

/// The identity of a disk read: the key, the decoding options, and the serializer that decodes the
/// file's bytes.
final class LookupKey: Hashable, Sendable {
    let key: ImageKey
    private let creating: ImageCreatingOptions
    private let serializer: SerializerIdentity
    /// The generation of the required response; 0 for any origin.
    private let generation: Int64

    /// `nil` if the file must be read for one request alone, because its serializer cannot be
    /// compared with others.
    init?(_ key: ImageKey, _ options: KingfisherParsedOptionsInfo, of origin: ImageOrigin? = nil) {
        guard let serializer = SerializerIdentity(options.cacheSerializer) else { return nil }
        self.key = key
        self.serializer = serializer
        // Images stored by the program have a number that no response has.
        generation = origin.map { $0.record?.generation ?? -1 } ?? 0
        creating = options.imageCreatingOptions
    }

    static func == (left: LookupKey, right: LookupKey) -> Bool {
        left === right
            || left.key == right.key && left.creating == right.creating
                && left.serializer == right.serializer && left.generation == right.generation
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(generation)
    }
}

extension String {
    /// The key under which a processor's result for this key is cached.
    func computedKey(with processorIdentifier: String) -> String {
        processorIdentifier.isEmpty ? self : "\(self)@\(processorIdentifier)"
    }
}
