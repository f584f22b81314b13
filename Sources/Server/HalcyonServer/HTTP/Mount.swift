/// The split of a request's target in an embedding application.
struct Mount: Hashable {
    /// The path that leads to the server: `/api/images`.
    let path: String
    /// The rest, with its query: `/SIGNATURE/…`.
    let rest: String

    /// - Parameter segments: The number of segments that lead to the server, without empty ones.
    init(target: String, segments: Int) {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        var end = path.startIndex
        for _ in 0..<segments {
            end = path[end...].firstIndex { $0 != UInt8(ascii: "/") } ?? path.endIndex
            end = path[end...].firstIndex(of: UInt8(ascii: "/")) ?? path.endIndex
        }
        self.path = String(target[..<end])
        rest = String(target[end...])
    }
}
