import Testing

@testable import Halcyon
import HalcyonHTTP

/// What of a URL is shown and kept.
@Suite struct SecretMaskTests {
    @Test(arguments: [
        ("https://anna:pa55@host/a.jpg", "https://***@host/a.jpg"),
        ("https://anna@host/a.jpg", "https://***@host/a.jpg"),
        ("http://a:b@c:d@host:8080/x", "http://***@host:8080/x"),
        ("https://host/a.jpg?token=abc", "https://host/a.jpg?token=***"),
        ("https://host/a?w=5&sig=x%2Fy&h=7", "https://host/a?w=5&sig=***&h=7"),
        ("https://host/a?X-Amz-Signature=0f&w=1", "https://host/a?X-Amz-Signature=***&w=1"),
        ("https://host/a?X%2DAmz%2DSignature=0f", "https://host/a?X%2DAmz%2DSignature=***"),
        ("https://host/a?X-Amz-Credential=me", "https://host/a?X-Amz-Credential=***"),
        ("https://host/a?ACCESS_TOKEN=q", "https://host/a?ACCESS_TOKEN=***"),
        ("https://host/a?api-key=1;key=2", "https://host/a?api-key=***;key=***"),
        ("https://host/a#access_token=1", "https://host/a#access_token=***"),
        ("https://host/a;password=1/b", "https://host/a;password=***"),
        ("/a.jpg?token=abc", "/a.jpg?token=***"),
        ("?signature=a=b=c", "?signature=***"),
        ("https://o'hara:x@host/", "https://***@host/"),
        ("https://host/?password=o'brien&w=1", "https://host/?password=***&w=1"),
        ("'https://host/?token=x', it said", "'https://host/?token=***', it said"),
    ])
    func secretsAreMasked(text: String, masked: String) {
        #expect(text.maskingSecrets == masked)
        #expect(masked.maskingSecrets == masked, "masking once is enough")
    }

    @Test(arguments: [
        "", "avatar-42", "https://host/a.jpg", "https://host/a.jpg?width=5&keyword=sun#top",
        "https://host/@user/a.jpg", "https://host/a?email=a@b.c", "https://host/a?token=",
        "a=b", "mail anna@host.net", "://", "https://", "?=", "?token", "?&;#=",
    ])
    func theRestStays(text: String) {
        #expect(text.maskingSecrets == text)
    }

    @Test func theProcessorInAKeyStays() {
        let processor = "@com.onevcat.Kingfisher.BlurImageProcessor(4.0)"
        #expect(
            ("https://host/a?token=x@y" + processor).maskingSecrets
                == "https://host/a?token=***" + processor)
        #expect(("https://host" + processor).maskingSecrets == "https://host" + processor)
    }

    @Test func everyURLOfATextIsMasked() {
        let text = "\"http://a:b@c/?key=1\" led to <https://d@e/?sig=2>, said the server"
        #expect(
            text.maskingSecrets
                == "\"http://***@c/?key=***\" led to <https://***@e/?sig=***>, said the server")
    }
}
