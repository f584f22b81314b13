import HalcyonHTTP

extension AddressPolicy {
    /// Which addresses a server connects to that fetches what its clients name.
    init(_ settings: ImageServerConfiguration.HTTPSources) {
        var kinds: Set<AddressKind> = []
        if settings.allowsPrivate { kinds.formUnion([.private, .shared]) }
        if settings.allowsLoopback { kinds.insert(.loopback) }
        if settings.allowsLinkLocal { kinds.insert(.linkLocal) }
        self = .publicInternet(
            and: kinds, allowed: settings.allowAddresses, denied: settings.denyAddresses)
    }
}
