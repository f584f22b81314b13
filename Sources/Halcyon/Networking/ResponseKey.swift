import Foundation
import FoundationNetworking

/// What makes two requests the same download: method, URL, header fields and body.
///
/// Every header field counts: any of them may change what the server answers.
struct ResponseKey: Hashable, Sendable {
    let url: String
    let method: String
    let headers: [String: String]
    let body: Data?

    init(_ request: URLRequest) {
        url = request.url?.absoluteString ?? ""
        method = request.httpMethod ?? "GET"
        headers = Dictionary(
            (request.allHTTPHeaderFields ?? [:]).map { ($0.key.lowercased(), $0.value) },
            uniquingKeysWith: { first, _ in first })
        body = request.httpBody
    }
}
