import CCodecs
import DirectCodecs
import Testing

/// The libraries that are loaded when the first file needs them.
struct CodecLibraryTests {
    @Test func loadsTheLibjxlOfItsHeaders() throws {
        let version = try #require(JPEGXLFile.libraryVersion)
        #expect(version.hasPrefix("\(JPEGXL_MAJOR_VERSION).\(JPEGXL_MINOR_VERSION)."))
    }

    @Test func loadsTheLibavifOfItsHeaders() throws {
        let version = try #require(AVIFFile.libraryVersion)
        #expect(version.hasPrefix("\(AVIF_VERSION_MAJOR).\(AVIF_VERSION_MINOR)."))
    }
}
