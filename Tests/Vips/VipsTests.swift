import Testing
import Vips

@Suite struct VipsTests {
    @Test func reportsTheRunningVersion() {
        #expect(Vips.version.hasPrefix("8."))
    }

    @Test func supportsWhatExistsAndIsAdmitted() {
        #expect(Vips.supports(operation: "jpegload_buffer"))
        #expect(Vips.supports(operation: "resize"))
        #expect(!Vips.supports(operation: "no_such_operation"))
        #expect(!Vips.supports(operation: "magickload_buffer"))
        #expect(!Vips.supports(operation: "thumbnail_buffer"))
        #expect(Vips.supports(operation: "thumbnail_image"))
    }
}
