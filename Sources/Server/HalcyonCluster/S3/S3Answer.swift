import Foundation
import HalcyonHTTP
import HalcyonWork

struct S3Answer: Sendable {
    let head: AnswerHead
    let body: Data

    var status: Int { head.status }

    /// The error code of the store: the `Code` of its XML document.
    var code: Substring? {
        guard status >= 400,
            let text = String(bytes: body.prefix(4096), encoding: .utf8),
            let start = text.firstRange(of: "<Code>"), let end = text.firstRange(of: "</Code>"),
            start.upperBound < end.lowerBound
        else { return nil }
        return text[start.upperBound..<end.lowerBound]
    }

    func verdict(of method: String?) -> Verdict {
        switch status {
        // Also for missing objects, if the keys may not list the bucket.
        case 403 where method == "GET" && code == "AccessDenied": .unknown
        case 403: .refuses
        // A 404, too, but nothing can be stored there.
        case 404 where code == "NoSuchBucket": .fails
        case 429, 500...: .fails
        default: code == "ExpiredToken" ? .expired : .works
        }
    }

    var error: EngineError {
        EngineError("the store has answered with \(status)" + (code.map { ", \($0)" } ?? ""))
    }

    /// The object in the response; `nil` if it is incomplete or damaged.
    var object: SharedObject? {
        guard head.value(Field.length) == "\(body.count)",
            head.value(Field.digest) == Digest.sha256.hexadecimal(body)
        else { return nil }
        return SharedObject(
            body: body,
            mediaType: head.value("content-type") ?? "application/octet-stream",
            generation: head.value(Field.generation).flatMap { Int64($0) })
    }

    enum Field {
        static let length = "x-amz-meta-halcyon-length"
        static let digest = "x-amz-meta-halcyon-sha256"
        static let generation = "x-amz-meta-halcyon-generation"
    }

    /// The state of the store and of our keys, as indicated by a response.
    enum Verdict {
        case works, unknown, expired, refuses, fails
    }
}
