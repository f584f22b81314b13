/// The request fields that a response was chosen by (RFC 9110, section 12.5.5).
package enum VaryKey {
    /// More names than these are not stored.
    static let nameLimit = 32

    /// The names in all `Vary` lines: in lower case, sorted, each once.
    package static func names(in fields: HTTPFields) -> [String] {
        Set(fields.values("Vary").flatMap(members).map(\.lowercasedASCII)).sorted()
    }

    /// The values of these names in a request, in a form that no other values have: each text
    /// stands behind its length, and a field that is absent is told from one that is empty.
    static func canonical(_ names: [String], of request: HTTPFields) -> [UInt8] {
        var bytes: [UInt8] = []
        for name in names {
            append(name, to: &bytes)
            let value = value(of: name, in: request)
            bytes.append(value == nil ? 0 : 1)
            append(value ?? "", to: &bytes)
        }
        return bytes
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: UInt64(text.utf8.count).littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: text.utf8)
    }

    /// The value of a field as it is compared: lines are combined, and spaces around commas do not
    /// count. In the fields of negotiation neither do order, case and a quality of 1.
    private static func value(of name: String, in request: HTTPFields) -> String? {
        guard request.contains(name) else { return nil }
        let members = request.values(name).flatMap(members)
        guard negotiating.contains(name) else { return members.joined(separator: ",") }
        return members.map(normalized).sorted().joined(separator: ",")
    }

    private static let negotiating: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language",
    ]

    /// `DE ; q = 1.0` as `de`.
    private static func normalized(_ member: String) -> String {
        member.lowercasedASCII.utf8.split(separator: UInt8(ascii: ";"))
            .map { parameter in
                parameter.split(separator: .equals, omittingEmptySubsequences: false)
                    .map { String(decoding: $0, as: UTF8.self).trimmingFieldSpaces }
                    .joined(separator: "=")
            }
            .filter { !isFullQuality($0) }
            .joined(separator: ";")
    }

    /// `q=1`, `q=1.`, `q=1.000`
    private static func isFullQuality(_ parameter: String) -> Bool {
        guard parameter.utf8.starts(with: "q=1".utf8) else { return false }
        let rest = parameter.utf8.dropFirst(3)
        return rest.isEmpty
            || rest.first == UInt8(ascii: ".") && rest.dropFirst().allSatisfy { $0 == 0x30 }
    }

    private static func members(of line: String) -> [String] {
        line.utf8.split(separator: .comma)
            .map { String(decoding: $0, as: UTF8.self).trimmingFieldSpaces }
            .filter { !$0.isEmpty }
    }
}
