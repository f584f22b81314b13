import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct LivePhotoResourceTests {
    private let heic = URL(string: "https://example.com/photo.HEIC")!
    private let mov = URL(string: "https://example.com/photo.mov")!

    /// The head of an ISO media file of a brand.
    static func isoMedia(_ brand: String, box: String = "ftyp") -> Data {
        Data([0, 0, 0, 0x18]) + Data((box + brand).utf8) + Data(repeating: 0, count: 8)
    }

    /// Upstream: testLivePhotoResourceInitialization, testLivePhotoResourceGuessedFileType
    @Test(arguments: [
        ("photo.heic", LivePhotoResource.FileType.heic), ("photo.HEIC", .heic),
        ("photo.mov", .mov), ("photo.MOV", .mov), ("photo.jpg", .other("jpg")),
        ("photo", .other("")),
    ])
    func theTypeIsGuessedFromThePathExtension(
        name: String, type: LivePhotoResource.FileType
    ) throws {
        let url = try #require(URL(string: "https://example.com/\(name)?size=large"))
        let resource = LivePhotoResource(downloadURL: url)
        #expect(resource.dataSource.url == url)
        #expect(resource.dataSource.cacheKey == url.absoluteString)
        #expect(resource.referenceFileType == type)
    }

    /// Upstream: testLivePhotoResourceInitializationWithCacheKey,
    /// testLivePhotoResourceInitializationWithFileType,
    /// testLivePhotoResourceInitializationWithResource
    @Test func anExplicitKeyAndTypeAreKept() {
        let resource = LivePhotoResource(downloadURL: mov, cacheKey: "mine", fileType: .heic)
        #expect(resource.dataSource.cacheKey == "mine" && resource.referenceFileType == .heic)
        let other = LivePhotoResource(downloadURL: mov, fileType: .other("m4v"))
        #expect(other.dataSource.cacheKey == mov.absoluteString)
        #expect(other.referenceFileType == .other("m4v"))
    }

    @Test func aProviderWithoutAURLHasNoType() throws {
        let provider = RawImageDataProvider(data: Data(), cacheKey: "raw")
        #expect(LivePhotoResource(source: .provider(provider)).referenceFileType == .other(""))
        let local = LivePhotoResource(downloadURL: URL(filePath: "/tmp/photo.heic"))
        guard case .provider = local.dataSource else { throw Unexpected(local.dataSource) }
        #expect(local.referenceFileType == .heic)
    }

    /// Upstream: testLivePhotoResourceFileExtensionByType,
    /// testLivePhotoResourceFileTypeDeterminationForExplicitFileType
    @Test(arguments: [
        (LivePhotoResource.FileType.heic, "heic"), (.mov, "mov"), (.other("m4v"), "m4v"),
    ])
    func anExplicitTypeHasItsExtensionWhateverTheBytes(
        type: LivePhotoResource.FileType, ext: String
    ) {
        #expect(type.fileExtension == ext && type.determinedFileExtension(Data()) == ext)
        #expect(type.determinedFileExtension(Self.isoMedia("heic")) == ext)
    }

    /// Upstream: testLivePhotoResourceFileTypeDeterminationForHEIC,
    /// testLivePhotoResourceFileTypeDeterminationForQT
    @Test(arguments: [("heic", "heic"), ("qt  ", "mov")])
    func theBytesTellTheTypeThatNobodyKnows(brand: String, ext: String) {
        let head = Self.isoMedia(brand)
        for data in [head, head.prefix(12), (Data([9, 9, 9]) + head).dropFirst(3)] {
            #expect(LivePhotoResource.FileType.other("").determinedFileExtension(data) == ext)
        }
    }

    /// Upstream: testLivePhotoResourceFileTypeDeterminationForUnknown,
    /// testLivePhotoResourceFileTypeDeterminationForNonFYTP,
    /// testLivePhotoResourceFileTypeDeterminationForNotEnoughData
    @Test(arguments: [
        LivePhotoResourceTests.isoMedia("mp42"),
        LivePhotoResourceTests.isoMedia("heic", box: "moov"),
        LivePhotoResourceTests.isoMedia("heic").prefix(11), Data(),
    ])
    func otherBytesTellNothing(data: Data) {
        #expect(LivePhotoResource.FileType.other("").determinedFileExtension(data) == nil)
    }

    /// Upstream: testLivePhotoSourceInitializationWithResources,
    /// testLivePhotoSourceInitializationWithURLs,
    /// testLivePhotoSourceInitializationWithMixedResources
    @Test func aSourceKeepsOrderURLsAndTypes() {
        let mixed: [any Resource] = [KF.ImageResource(downloadURL: heic, cacheKey: "still"), mov]
        let sources = [
            LivePhotoSource(urls: [heic, mov]), LivePhotoSource(resources: [heic, mov]),
            LivePhotoSource(resources: mixed),
            LivePhotoSource([
                LivePhotoResource(downloadURL: heic), LivePhotoResource(downloadURL: mov),
            ]),
        ]
        for source in sources {
            #expect(source.resources.map(\.dataSource.url) == [heic, mov])
            #expect(source.resources.map(\.referenceFileType) == [.heic, .mov])
        }
        #expect(sources[2].resources[0].dataSource.cacheKey == "still")
    }
}
