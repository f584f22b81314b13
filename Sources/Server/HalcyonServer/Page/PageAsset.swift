import HalcyonServerURLs
import HalcyonWork

/// A file that the page is made of, compiled into the program.
struct PageAsset: Sendable {
    let bytes: [UInt8]
    let mediaType: String
    /// Changes with the content.
    let tag: String

    private init(_ bytes: [UInt8], _ mediaType: String) {
        self.bytes = bytes
        self.mediaType = mediaType
        tag = "\"" + Base64URL.encode(Digest.sha256.bytes(bytes)).prefix(22) + "\""
    }

    static let style = PageAsset(PackageResources.page_css, "text/css; charset=utf-8")
    static let script = PageAsset(PackageResources.page_js, "text/javascript; charset=utf-8")
    /// With names in double braces where a document fills something in.
    static let template = String(decoding: PackageResources.page_html, as: UTF8.self)
}
