import HalcyonServerURLs
import Testing

/// Signatures of paths.
struct PathSignerTests {
    struct Vector: Sendable {
        let key: String
        let salt: String
        let path: String
        var size = 32
        let signature: String

        var pair: PathSigner.Pair { .init(key: Array(key.utf8), salt: Array(salt.utf8)) }
        var signer: PathSigner { PathSigner(pairs: [pair], size: size) }
    }

    static let vectors: [Vector] = [
        Vector(
            key: "test-key", salt: "test-salt", path: "/asd",
            signature: "oWaL7QoW5TsgbuiS9-5-DI8S3Ibbo1gdB2SteJh3a20"),
        Vector(key: "test-key", salt: "test-salt", path: "/asd", size: 8, signature: "oWaL7QoW5Ts"),
        Vector(
            key: "test-key2", salt: "test-salt2", path: "/asd",
            signature: "jYz1UZ7j1BCdSzH3pZhaYf0iuz0vusoOTdqJsUT6WXI"),
        Vector(
            key: "secret", salt: "hello",
            path: "/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/"
                + "cy9jdXJpb3NpdHku/anBn.png",
            signature: "oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8"),
        Vector(
            key: "secret", salt: "hello",
            path: "/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/"
                + "cy9jdXJpb3NpdHku/anBn.png",
            size: 16, signature: "oKfUtW34Dvo2BGQehJFR4A"),
        Vector(
            key: "secret", salt: "hello",
            path: "/rs:fit:300:200/plain/https://example.com/images/curiosity.jpg@webp",
            signature: "TBRnc27TayUWPGvdxgPW0LK82nS9qDHbyrWMuZf_9CI"),
        Vector(
            key: "secret", salt: "hello", path: "/plain/local:///china.jpg",
            signature: "3880GaJksVFXnpVpq-zNwlnlxCBbv0BR1vshakEVp94"),
        Vector(
            key: "secret", salt: "hello",
            path: "/pr:thumb/plain/https%3A%2F%2Fexample.com%2Fa%20b.jpg%3Fx%3D1%26y%3D%2540@png",
            signature: "SjsjHoA8D0V4PWnHi6QVnuno3n1-6YyvR4vSdQtNmOo"),
        Vector(
            key: "secret", salt: "hello",
            path: "/rs:fill:300:400:0/g:sm/"
                + "aHR0cHM6Ly9leGFtcGxlLmNvbS9pbWFnZXMvY3VyaW9zaXR5LmpwZw.webp",
            signature: "oRhmHvgbVG5n77vHlOIFgtQpo11iF7fwonVuKzH5MlU"),
        Vector(
            key: "secret", salt: "hello",
            path: "/exp:4102444800/w:200/aHR0cHM6Ly9leGFtcGxlLmNvbS9pbWFnZXMvY3VyaW9zaXR5LmpwZw",
            signature: "yhOl2tR5_Z4b3RZlv5dMYgtbhNjcv_iyj3Z7fZlzmzI"),
        Vector(
            key: "secret", salt: "hello", path: "/plain/https://example.com/images/curiosity.jpg",
            signature: "l5Opvvo2zV2p5dCUlRJYbe6TErGSW1jMPJqCNbihU3g"),
    ]

    @Test(arguments: vectors)
    func aPathHasItsSignature(vector: Vector) {
        #expect(vector.signer.sign(vector.path) == vector.signature)
        #expect(vector.signer.signed(vector.path) == "/" + vector.signature + vector.path)
        #expect(
            vector.signer.verify(signature: vector.signature, path: vector.path) == .pair(0))
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
        let text = try #require(
            PathSigner.Pair(hexadecimalKey: "736563726574", salt: "68656C6c6f"))
        #expect(
            PathSigner(pairs: [text]).sign("/plain/local:///china.jpg")
                == "3880GaJksVFXnpVpq-zNwlnlxCBbv0BR1vshakEVp94")
    }

    @Test(arguments: ["abc", "zz", "0x12", "12 34"])
    func whatIsNotHexadecimalIsNoKey(text: String) {
        #expect(PathSigner.Pair(hexadecimalKey: text, salt: "00") == nil)
        #expect(PathSigner.Pair(hexadecimalKey: "00", salt: text) == nil)
    }

    @Test(arguments: vectors)
    func anyChangeMakesASignatureWrong(vector: Vector) {
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
        #expect(!isRight(vector.signature + "=", vector.path))
        #expect(!isRight(vector.signature + "A", vector.path))
        #expect(!isRight("", vector.path))
        #expect(!isRight(vector.signature, vector.path + "a"))
        #expect(!isRight(vector.signature, String(vector.path.dropLast())))
        #expect(!isRight(vector.signature, vector.path.uppercased()))
        #expect(!isRight(vector.signature, "/" + vector.path))
    }

    @Test func anotherAlphabetIsWrong() {
        let vector = Self.vectors[0]
        let standard = vector.signature.replacing("-", with: "+").replacing("_", with: "/")
        #expect(standard != vector.signature)
        #expect(vector.signer.verify(signature: standard, path: vector.path) == nil)
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
        let onlyNew = PathSigner(pairs: [new.pair])
        #expect(onlyNew.verify(signature: old.signature, path: "/asd") == nil)
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

    @Test func wordsForUnsignedPathsAreWrongSignatures() {
        for word in ["unsafe", "insecure", "_"] {
            #expect(Self.vectors[0].signer.verify(signature: word, path: "/asd") == nil)
        }
    }

    @Test func aSignatureOfTenKilobytesIsWrong() {
        let long = String(repeating: "oWaL", count: 2560)
        #expect(Self.vectors[0].signer.verify(signature: long, path: "/asd") == nil)
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
