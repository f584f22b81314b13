/// Parts of URLs in the form that all equal ones share (RFC 3986, section 6.2.2).
package enum URLSpelling {
    /// `text` with percent-encoded letters, digits and `-._~` as themselves, and the digits of other
    /// percent-encodings in upper case.
    package static func unescaped(_ text: Substring.UTF8View) -> String {
        guard text.contains(UInt8(ascii: "%")) else { return String(Substring(text)) }
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"),
                let value = PercentEncoding.bytes(([byte] + rest.prefix(2))[...])
            else {
                bytes.append(byte)
                continue
            }
            bytes += PercentEncoding.encode(value).utf8
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// `path` without `.` and `..` as segments, also where their dots are percent-encoded (section
    /// 5.2.4).
    ///
    /// - Parameter path: Begins with a slash.
    package static func withoutDotSegments(_ path: String) -> String {
        var last = UInt8(ascii: " ")
        let mayHaveSome = path.utf8.contains { byte in
            defer { last = byte }
            return last == UInt8(ascii: "/") && ".%".utf8.contains(byte)
        }
        guard mayHaveSome else { return path }
        var segments: [Substring] = []
        var isFolder = true
        for segment in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let hasEscapes = segment.utf8.contains(UInt8(ascii: "%"))
            let name = hasEscapes ? segment.lowercased().replacing("%2e", with: ".")[...] : segment
            isFolder = name == "." || name == ".."
            if name == ".." {
                _ = segments.popLast()
            } else if name != "." {
                segments.append(segment)
            }
        }
        let end = isFolder && !segments.isEmpty ? "/" : ""
        return "/" + segments.joined(separator: "/") + end
    }
}
