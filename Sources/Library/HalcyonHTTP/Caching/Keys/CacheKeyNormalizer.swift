public import Foundation

/// Makes one key of URLs that differ in what does not belong to the picture, such as the signature
/// of a signed URL. The request still goes to the URL as given.
public struct CacheKeyNormalizer: Sendable {
    /// Tells normalizers apart; those with equal identifiers make equal keys.
    public let identifier: String

    private let transform: @Sendable (URL) -> String

    /// The key of resources at `url` without a key of their own. Where the normalizer makes an
    /// empty text of it, the URL itself.
    public func key(for url: URL) -> String {
        let key = transform(url)
        return key.isEmpty ? url.absoluteString : key
    }

    /// Any rule.
    public static func custom(
        identifier: String, _ transform: @escaping @Sendable (URL) -> String
    ) -> CacheKeyNormalizer {
        CacheKeyNormalizer(identifier: identifier, transform: transform)
    }

    /// Leaves out query items with these names, whose case does not count.
    public static func removingQueryItems(_ names: [String]) -> CacheKeyNormalizer {
        let names = Set(names.map { $0.lowercased() })
        return removingQueryItems(
            where: { names.contains($0.lowercased()) },
            identifier: "removing(\(names.sorted().map(\.debugDescription).joined(separator: ",")))"
        )
    }

    /// Leaves out query items whose names `isRemoved` holds for. The other items keep their order;
    /// a query without items loses its question mark.
    public static func removingQueryItems(
        where isRemoved: @escaping @Sendable (String) -> Bool, identifier: String
    ) -> CacheKeyNormalizer {
        custom(identifier: identifier) { url in
            url.removingQueryItems { names in Set(names.filter(isRemoved)) }
        }
    }

    /// Leaves out the signatures of Amazon S3 and CloudFront, Google Cloud Storage and Azure, and
    /// what belongs to them. Items with common names (`Expires`, `Policy`, `token`, Azure's `sv`)
    /// go only together with a signature, so that they may mean something in other URLs.
    public static let signedURLs = custom(identifier: "signedURLs") { url in
        url.removingQueryItems(SignedURL.itemsOfSignatures)
    }
}

extension CacheKeyNormalizer: Hashable {
    public static func == (one: CacheKeyNormalizer, other: CacheKeyNormalizer) -> Bool {
        one.identifier == other.identifier
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(identifier)
    }
}

/// The query items of signed URLs, in lower case.
private enum SignedURL {
    /// Those among `names` that belong to a signature.
    static func itemsOfSignatures(_ names: [String]) -> Set<String> {
        let lowered = Set(names.map { $0.lowercased() })
        var removed = signatures
        if !lowered.isDisjoint(with: signatures) { removed.formUnion(besideSignatures) }
        if lowered.contains("sig") {
            removed.formUnion(azure)
            removed.insert("token")
        }
        return Set(
            names.filter { name in
                let name = name.lowercased()
                return removed.contains(name) || name.hasPrefix("x-amz-")
                    || name.hasPrefix("x-goog-")
            })
    }

    private static let signatures: Set<String> = [
        "signature", "key-pair-id", "awsaccesskeyid", "googleaccessid",
    ]
    private static let besideSignatures: Set<String> = ["policy", "expires", "token"]
    private static let azure: Set<String> = [
        "sig", "se", "st", "sp", "sv", "sr", "spr", "skoid", "sktid", "skt", "ske", "sks", "skv",
    ]
}

extension URL {
    /// The text without the query items whose names `removed` chooses among all of them.
    fileprivate func removingQueryItems(_ removed: ([String]) -> Set<String>) -> String {
        let text = absoluteString
        let beforeFragment = text.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard let mark = beforeFragment.firstIndex(of: UInt8(ascii: "?")) else { return text }
        let query = beforeFragment[beforeFragment.index(after: mark)...]
        let items = query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
            .map { item in
                let encoded = String(decoding: item.prefix { $0 != .equals }, as: UTF8.self)
                return (
                    name: encoded.removingPercentEncoding ?? encoded,
                    text: String(decoding: item, as: UTF8.self)
                )
            }
        let names = removed(items.map(\.name))
        let kept = items.filter { !names.contains($0.name) }.map(\.text).joined(separator: "&")
        return String(decoding: text.utf8[..<mark], as: UTF8.self)
            + (kept.isEmpty ? "" : "?" + kept)
            + String(decoding: text.utf8[beforeFragment.endIndex...], as: UTF8.self)
    }
}
