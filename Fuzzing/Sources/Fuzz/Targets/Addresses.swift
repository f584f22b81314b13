import Foundation
import FoundationNetworking

@testable import HalcyonHTTP
@testable import HalcyonStorage

extension FuzzTarget {
    /// Addresses, where a redirect from there leads, and the names under which it is all kept and shown.
    static let urls = FuzzTarget(
        "urls",
        seeds: {
            [
                "http://a.b:80/c?d#e\n//f:65536/../g", "https://u:p@[::1]/\n?x", "file:///a\nb",
                "https://h/a.png?X-Amz-Signature=1&Expires=2;token=3#access_token=4\n//u:p@h",
                "HTTP://%41.b:0443/%2e%2E/\u{E9}@2x.jpg\nhttps://h:443/%",
                "10.0.0.0/8\n2001:db8::/32", "http://[::ffff:10.0.0.1]/\nhttp://169.254.169.254/",
            ].map { Data($0.utf8) }
        }
    ) { data in
        let text = String(decoding: data, as: UTF8.self)
        name(text)
        let parts = text.split(separator: "\n", maxSplits: 1).map(String.init)
        parts.forEach(address)
        guard let url = parts.first.flatMap(URL.init(string:)) else { return }
        visit(url)
        if parts.count > 1 { try redirect(from: url, to: parts[1]) }
    }

    /// Keys of the cache, and the names of their files.
    private static func name(_ key: String) {
        for ext in [nil, CacheFileName.fileExtension(of: key), "png"] {
            let name = CacheFileName.name(base: key, extension: ext)
            precondition(CacheFileName.isSound(name), "no file has such a name: \(name)")
        }
        precondition(CacheFileName.isDigest(CacheFileName.digest(of: key)))
        _ = key.maskingSecrets.maskingSecrets
    }

    /// Addresses in numbers, and whether they may be connected to.
    private static func address(_ text: String) {
        guard let address = IPAddress(text) else {
            _ = IPNetwork(text)
            return
        }
        precondition(IPAddress(address.description) == address, "written as \(address)")
        let denying = IPNetwork(text).map { [$0] } ?? []
        let policy = AddressPolicy(allowsPrivateNetworks: true, denied: denying)
        precondition(!policy.allows(address), "allowed: \(address)")
        _ = AddressPolicy.publicOnly.allows(address)
    }

    private static func visit(_ url: URL) {
        _ = Origin(url)
        let key = ResponseKey.key(url: url, normalizer: .signedURLs, partition: "a\nb")
        precondition(!key.isEmpty)
        let normalized = ResponseKey.normalized(url)
        if let again = URL(string: normalized) { _ = ResponseKey.normalized(again) }
        let isSent = (try? OutgoingRequest(URLRequest(url: url))) != nil
        guard HTTPURL.isDownloadable(url) else {
            precondition(!isSent, "sent: \(url)")
            return
        }
        precondition(url.host?.isEmpty == false && (1...65535).contains(url.port ?? 80))
        // What follows the sign in the key of a processed image is no host.
        guard url.host?.hasPrefix("com.onevcat.Kingfisher.") == false else { return }
        // What is left beside `***` may read as one that there was not.
        guard let user = url.user(), let password = url.password() else { return }
        let masked = url.absoluteString.maskingSecrets
        precondition(!masked.contains("://\(user):\(password)@"), "the password is told: \(url)")
    }

    private static func redirect(from url: URL, to location: String) throws {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("secret", forHTTPHeaderField: "Authorization")
        for status in [302, 307] {
            let head = AnswerHead(url: url, status: status, fields: ["Location": location])
            guard let next = try request.redirected(by: head.response) else { continue }
            guard let target = next.url else { preconditionFailure("a redirect to nowhere") }
            precondition(HTTPURL.isDownloadable(target), "redirected to \(target)")
            let keeps = next.value(forHTTPHeaderField: "Authorization") != nil
            precondition(keeps == (Origin(target) == Origin(url)), "credentials for \(target)")
            visit(target)
        }
    }
}
