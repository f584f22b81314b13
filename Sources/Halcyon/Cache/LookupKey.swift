import HalcyonWork

/// What makes two reads of the disk the same: the key, the pixels that are wanted, and who makes them of
/// the file's bytes.
struct LookupKey: Hashable, Sendable {
    let key: ImageKey
    private let creating: ImageCreatingOptions
    private let serializer: SerializerIdentity

    /// `nil` when the file must be read for one request alone, because its serializer cannot be compared
    /// with others.
    init?(_ key: ImageKey, _ options: KingfisherParsedOptionsInfo) {
        guard let serializer = SerializerIdentity(options.cacheSerializer) else { return nil }
        self.key = key
        self.serializer = serializer
        creating = options.imageCreatingOptions
    }
}
