/// The part of a request's target that leads to the server within an application of somebody else.
struct Mount: Hashable {
    /// What comes before: `/api/images`.
    let path: String
    /// The rest, with its query: `/SIGNATURE/…`.
    let rest: String

    /// - Parameters:
    ///   - target: As it was sent.
    ///   - segments: How many segments lead to the server; empty ones do not count, as routers have it.
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
