import HalcyonWork

/// The threads for blocking disk work. Reading and writing have their own: a write never delays a read.
enum DiskLane {
    /// For looking up and reading cached files.
    static let reading = ThreadPool(name: "disk reading", width: 4)
    /// For writing, removing and cleaning.
    static let writing = ThreadPool(name: "disk writing", width: 2)
}
