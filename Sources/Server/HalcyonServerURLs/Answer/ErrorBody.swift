/// The body of a response without a picture.
package struct ErrorBody: Sendable, Hashable {
    package enum Detail: String, Sendable, Hashable, CaseIterable {
        /// One sentence per kind of failure.
        case brief
        /// The sentence with the error in this request: not for public servers.
        case full
    }

    package let contentType: String
    package let text: String

    /// - Parameter requestID: Included in JSON only.
    package init(_ error: PlanError, detail: Detail, accept: [String], requestID: String) {
        let summary = error.failure.summary
        let message = detail == .full ? "\(summary): \(error.reason)" : summary
        guard DocumentNegotiation.prefersJSON(accept: accept) else {
            contentType = "text/plain; charset=utf-8"
            let isLine = !message.utf8.contains(UInt8(ascii: "\n"))
            text = (isLine ? message : message.replacing("\n", with: " ")) + "\n"
            return
        }
        contentType = "application/json"
        text =
            "{\"code\":\(Self.quoted(error.code)),\"message\":\(Self.quoted(message)),"
            + "\"requestId\":\(Self.quoted(requestID))}\n"
    }

    /// A string of JSON (RFC 8259, section 7).
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
