extension Image: CacheCostCalculable {
    /// Bytes this image keeps in memory once rendered: the pixels of its resident frames, and the
    /// file's bytes of an animation.
    public var cacheCost: Int { byteCount }
}
