import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct SourceTests {
    /// Upstream: testLocalFileCacheKey
    @Test(arguments: [
        ("https://example.com/a.png?v=2", "https://example.com/a.png?v=2"),
        ("file:///private/var/Name.app/images/a.png", "Name.app/images/a.png"),
        ("file:///private/Name.app/PlugIns/Other.appex/a.png", "Other.appex/a.png"),
        ("file:///private/var/a.png?w=1", "//private/var/a.png?w=1"),
        ("file:///private/var/a.png", "//private/var/a.png"),
    ])
    func theKeyOfAURLSurvivesAMoveOfItsBundle(url: String, key: String) throws {
        let url = try #require(URL(string: url))
        #expect(url.cacheKey == (url.isFileURL ? "kingfisher.local.cacheKey/\(key)" : key))
    }

    @Test func aNetworkResourceStaysOne() throws {
        let url = try #require(URL(string: "https://example.com/a.png"))
        let source = url.convertToSource()
        guard case .network(let resource) = source else { throw Unexpected(source) }
        #expect(resource.downloadURL == url && resource.cacheKey == url.absoluteString)
    }

    @Test func sourcesAreEqualByKindKeyAndURL() throws {
        let url = try #require(URL(string: "https://example.com/a.png"))
        let one = Source.network(url)
        #expect(one == .network(KF.ImageResource(downloadURL: url)))
        #expect(one.hashValue == Source.network(KF.ImageResource(downloadURL: url)).hashValue)
        #expect(one != .network(KF.ImageResource(downloadURL: url, cacheKey: "other")))
        let bytes = RawImageDataProvider(data: Data(), cacheKey: url.absoluteString)
        #expect(one != .provider(bytes) && Source.provider(bytes).url == nil)
    }
}
