import Foundation
import Testing

@testable import HalcyonServerURLs

/// The document of a picture, and where it says the picture is.
struct IIIFInfoTests {
    @Test func aDocumentTellsSizesTilesAndFeatures() throws {
        let info = IIIFInfo(
            id: "http://host/iiif/3/china", size: IIIFRequestTests.china,
            formats: [.jpeg, .png, .webp, .gif, .tiff, .avif])
        let text = String(decoding: try info.encoded(), as: UTF8.self)
        #expect(text.hasPrefix("{\"@context\":\"http://iiif.io/api/image/3/context.json\""))
        let expected = """
            { "@context": "http://iiif.io/api/image/3/context.json", "id": "http://host/iiif/3/china",
              "type": "ImageService3", "protocol": "http://iiif.io/api/image", "profile": "level2",
              "width": 640, "height": 427,
              "sizes": [ { "width": 80, "height": 53 }, { "width": 160, "height": 107 },
                         { "width": 320, "height": 214 }, { "width": 640, "height": 427 } ],
              "tiles": [ { "width": 512, "scaleFactors": [1, 2] } ],
              "preferredFormats": ["webp", "jpg"], "extraFormats": ["webp", "avif", "gif", "tif"],
              "extraQualities": ["color", "gray", "bitonal"],
              "extraFeatures": ["canonicalLinkHeader", "mirroring", "profileLinkHeader",
                                "rotationArbitrary", "sizeUpscaling"] }
            """
        #expect(try object(text) == object(expected))
    }

    private func object(_ text: String) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary)
    }

    @Test func limitsAndExtrasAppearWhenTheyAreSet() throws {
        var limits = IIIFLimits()
        limits.maxWidth = 200
        limits.maxArea = 40_000
        var extras = IIIFInfo.Extras()
        extras.rights = "http://creativecommons.org/licenses/by/4.0/"
        extras.seeAlso = [.init(id: "https://a.example/b", type: "Dataset")]
        let info = IIIFInfo(
            id: "x", size: IIIFRequestTests.china, limits: limits, formats: [.jpeg], extras: extras)
        #expect(
            info.sizes == [Dimensions(width: 80, height: 53), Dimensions(width: 160, height: 107)])
        let document = try object(String(decoding: try info.encoded(), as: UTF8.self))
        #expect(document["maxWidth"] as? Int == 200 && document["maxArea"] as? Int == 40_000)
        #expect(document["rights"] as? String == extras.rights)
        #expect((document["seeAlso"] as? [[String: String]])?.first?["type"] == "Dataset")
        #expect(document["preferredFormats"] as? [String] == ["jpg"])
        #expect((document["extraFormats"] as? [String])?.isEmpty == true)
        #expect(document["partOf"] == nil && document["maxHeight"] == nil)
    }

    @Test(arguments: [
        (3000, 2000, [1, 2, 4, 8]), (512, 512, [1]), (513, 1, [1, 2]), (1, 1, [1]),
        (1000, 1000, [1, 2]),
    ])
    func scaleFactorsEndWhereOneTileIsEnough(width: Int, height: Int, factors: [Int]) {
        let size = Dimensions(width: width, height: height)
        let info = IIIFInfo(id: "x", size: size, formats: [])
        #expect(info.scaleFactors == factors && info.sizes.last == size)
    }

    @Test(
        arguments: [
            (["host:8080"], "http://host:8080"), (["[::1]:80"], "http://[::1]:80"), ([], nil),
            (["a", "b"], nil), (["a/b"], nil), (["a b"], nil), ([""], nil), (["a@b"], nil),
        ] as [([String], String?)])
    func theAddressIsTheOneTheClientUsed(host: [String], base: String?) {
        #expect((try? PublicAddress.base(configured: nil, host: host)) == base)
        #expect(
            (try? PublicAddress.base(configured: "https://p.example/x/", host: host))
                == "https://p.example/x")
    }

    @Test func aTrustedProxySaysWhatItWasAsked() throws {
        func base(_ fields: [String: [String]]) throws -> String {
            let forwarded = PublicAddress.Forwarded { fields[$0] ?? [] }
            return try PublicAddress.base(
                configured: nil, forwarded: forwarded, host: ["inner.example"])
        }
        #expect(try base([:]) == "http://inner.example")
        #expect(
            try base([
                "Forwarded": [
                    "for=x;host=evil.example", "for=1.2.3.4;proto=https;Host=\"a.example:8443\"",
                ]
            ]) == "https://a.example:8443")
        #expect(
            try base(["X-Forwarded-Proto": ["http, https"], "X-Forwarded-Host": ["b.example"]])
                == "https://b.example")
        #expect(try base(["X-Forwarded-Proto": ["gopher"]]) == "http://inner.example")
        // Whose words are whose is not to be known.
        #expect(
            try base(["Forwarded": ["host=evil.example"], "X-Forwarded-Proto": ["https"]])
                == "http://inner.example")
        #expect(throws: PlanError.self) { try base(["X-Forwarded-Host": ["a/b"]]) }
    }

    @Test func linksNameProfileAndCanonicalForm() {
        #expect(
            IIIFInfo.linkField(canonical: nil)
                == "<http://iiif.io/api/image/3/level2.json>;rel=\"profile\"")
        #expect(
            IIIFInfo.linkField(canonical: "http://h/x").hasSuffix(
                ", <http://h/x>;rel=\"canonical\""))
    }
}
