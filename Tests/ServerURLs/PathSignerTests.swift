import HalcyonServerURLs
import Testing

/// Signatures of paths.
struct PathSignerTests {
    struct Vector: Sendable {
        let (key, salt): (String, String)
        let path: String
        let size: Int
        let signature: String

        init(
            _ path: String, _ signature: String, key: String = "secret", salt: String = "hello",
            size: Int = 32
        ) {
            (self.key, self.salt, self.path) = (key, salt, path)
            (self.size, self.signature) = (size, signature)
        }

        var pair: PathSigner.Pair { .init(key: Array(key.utf8), salt: Array(salt.utf8)) }
        var signer: PathSigner { PathSigner(pairs: [pair], size: size) }
    }

    private static let cut =
        "/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png"
    private static let encoded = "aHR0cHM6Ly9leGFtcGxlLmNvbS9pbWFnZXMvY3VyaW9zaXR5LmpwZw"

    static let vectors: [Vector] = [
        Vector(
            "/asd", "oWaL7QoW5TsgbuiS9-5-DI8S3Ibbo1gdB2SteJh3a20", key: "test-key",
            salt: "test-salt"),
        Vector("/asd", "oWaL7QoW5Ts", key: "test-key", salt: "test-salt", size: 8),
        Vector(
            "/asd", "jYz1UZ7j1BCdSzH3pZhaYf0iuz0vusoOTdqJsUT6WXI", key: "test-key2",
            salt: "test-salt2"),
        Vector(cut, "oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8"),
        Vector(cut, "oKfUtW34Dvo2BGQehJFR4A", size: 16),
        Vector(
            "/rs:fit:300:200/plain/https://example.com/images/curiosity.jpg@webp",
            "TBRnc27TayUWPGvdxgPW0LK82nS9qDHbyrWMuZf_9CI"),
        Vector("/plain/local:///china.jpg", "3880GaJksVFXnpVpq-zNwlnlxCBbv0BR1vshakEVp94"),
        Vector(
            "/pr:thumb/plain/https%3A%2F%2Fexample.com%2Fa%20b.jpg%3Fx%3D1%26y%3D%2540@png",
            "SjsjHoA8D0V4PWnHi6QVnuno3n1-6YyvR4vSdQtNmOo"),
        Vector(
            "/rs:fill:300:400:0/g:sm/\(encoded).webp",
            "oRhmHvgbVG5n77vHlOIFgtQpo11iF7fwonVuKzH5MlU"),
        Vector("/exp:4102444800/w:200/\(encoded)", "yhOl2tR5_Z4b3RZlv5dMYgtbhNjcv_iyj3Z7fZlzmzI"),
        Vector(
            "/plain/https://example.com/images/curiosity.jpg",
            "l5Opvvo2zV2p5dCUlRJYbe6TErGSW1jMPJqCNbihU3g"),
    ]

    @Test(arguments: vectors) func aPathHasItsSignature(vector: Vector) {
        #expect(vector.signer.sign(vector.path) == vector.signature)
        #expect(vector.signer.signed(vector.path) == "/" + vector.signature + vector.path)
        #expect(vector.signer.verify(signature: vector.signature, path: vector.path) == .pair(0))
    }

    @Test func keysInHexadecimalDigitsAreThoseBytes() throws {
        let pair = try #require(
            PathSigner.Pair(
                hexadecimalKey: "943b421c9eb07c830af81030552c86009268de4e532ba2ee2eab8247c6da0881",
                salt: "520f986b998545b4785e0defbc4f3c1203f22de2374a3d53cb7a7fe9fea309c5"))
        #expect(
            PathSigner(pairs: [pair]).sign(
                "/rs:fit:300:300/plain/http://img.example.com/pretty/image.jpg")
                == "m3k5QADfcKPDj-SDI2AIogZbC3FlAXszuwhtWXYqavc")
        let text = try #require(PathSigner.Pair(hexadecimalKey: "736563726574", salt: "68656C6c6f"))
        #expect(
            PathSigner(pairs: [text]).sign("/plain/local:///china.jpg")
                == "3880GaJksVFXnpVpq-zNwlnlxCBbv0BR1vshakEVp94")
    }

    @Test(arguments: ["abc", "zz", "0x12", "12 34"])
    func whatIsNotHexadecimalIsNoKey(text: String) {
        #expect(PathSigner.Pair(hexadecimalKey: text, salt: "00") == nil)
        #expect(PathSigner.Pair(hexadecimalKey: "00", salt: text) == nil)
    }

    @Test(arguments: vectors) func anyChangeMakesASignatureWrong(vector: Vector) {
        func isRight(_ signature: String, _ path: String) -> Bool {
            vector.signer.verify(signature: signature, path: path) != nil
        }
        let characters = Array(vector.signature)
        for index in characters.indices {
            var changed = characters
            changed[index] = changed[index] == "A" ? "B" : "A"
            if changed != characters { #expect(!isRight(String(changed), vector.path)) }
            changed.remove(at: index)
            #expect(!isRight(String(changed), vector.path))
        }
        let long = String(repeating: "oWaL", count: 2560)
        // In the alphabet of Base64 that is not for URLs.
        let standard = vector.signature.replacing("-", with: "+").replacing("_", with: "/")
        if standard != vector.signature { #expect(!isRight(standard, vector.path)) }
        for signature in [vector.signature + "=", vector.signature + "A", "", "unsafe", "_", long] {
            #expect(!isRight(signature, vector.path), "\(signature.prefix(60))")
        }
        let path = vector.path
        for changed in [path + "a", String(path.dropLast()), path.uppercased(), "/" + path] {
            #expect(!isRight(vector.signature, changed), "\(changed)")
        }
    }

    /// The last of 43 characters has two bits that stand for no byte.
    @Test func bitsThatStandForNothingHaveToBeZero() {
        let vector = Self.vectors[0]
        #expect(vector.signature.hasSuffix("0"))
        for last in ["1", "2", "3"] {
            let changed = vector.signature.dropLast() + last
            #expect(vector.signer.verify(signature: String(changed), path: vector.path) == nil)
        }
    }

    @Test func allPairsVerifyAndTheFirstSigns() {
        let old = Self.vectors[0]
        let new = Self.vectors[2]
        let signer = PathSigner(pairs: [new.pair, old.pair])
        #expect(signer.sign("/asd") == new.signature)
        #expect(signer.verify(signature: new.signature, path: "/asd") == .pair(0))
        #expect(signer.verify(signature: old.signature, path: "/asd") == .pair(1))
        #expect(PathSigner(pairs: [new.pair]).verify(signature: old.signature, path: "/asd") == nil)
    }

    @Test func aTrustedTextIsAcceptedAsItIs() {
        let vector = Self.vectors[0]
        let signer = PathSigner(pairs: [vector.pair], trusted: ["friend", ""])
        #expect(signer.verify(signature: "friend", path: "/anything") == .trusted)
        #expect(signer.verify(signature: "Friend", path: "/anything") == nil)
        #expect(signer.verify(signature: "", path: "/anything") == nil)
        #expect(signer.verify(signature: vector.signature, path: "/asd") == .pair(0))
    }

    @Test func withoutAKeyNothingIsSigned() {
        let signer = PathSigner(pairs: [])
        #expect(signer.sign("/asd") == nil && signer.signed("/asd") == nil)
        for word in ["unsafe", "insecure", "_", ""] {
            #expect(signer.verify(signature: word, path: "/asd") == nil)
        }
    }

    @Test func secretsAreShownNowhere() {
        let pair = PathSigner.Pair(key: [201, 202], salt: [203, 204])
        let signer = PathSigner(pairs: [pair], trusted: ["friend"])
        var text = "\(signer) \(pair) \([pair]) \(String(reflecting: signer))"
        dump(signer, to: &text)
        dump(pair, to: &text)
        for secret in ["201", "203", "friend"] { #expect(!text.contains(secret)) }
        #expect("\(signer)" == "PathSigner(1 pairs, 1 trusted texts, 32 bytes)")
    }
}
