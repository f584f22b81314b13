import Testing

@testable import HalcyonPixels

struct StoredHeaderTests {
    /// As libvips tells values of EXIF; newer ones write a blank for the zero that ends a text.
    @Test(arguments: [
        ("By me (By me, ASCII, 6 components, 6 bytes)", "By me"),
        ("By me  (By me , ASCII, 6 components, 6 bytes)", "By me"),
        ("Cam (x)  (Cam (x) , ASCII, 8 components, 8 bytes)", "Cam (x)"),
        ("28/10 (f/2.8, Rational, 1 components, 8 bytes)", "28/10"),
        ("1 (Top-left, Short, 1 components, 2 bytes)", "1"),
    ])
    func valuesOfEXIFAreReadWithoutTheirEndings(_ text: String, _ value: String) {
        #expect(StoredHeader.value(in: text) == value)
    }
}
