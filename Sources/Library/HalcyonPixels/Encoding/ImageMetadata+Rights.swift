import DirectCodecs
package import Foundation
import Vips

extension ImageMetadata {
    /// Only what these blocks say of who made the picture and who may use it: author and copyright notice of
    /// EXIF; rights, creator, contributor and publisher of XMP with its namespaces for rights and licences;
    /// author, credit and copyright notice of IPTC. `nil` when they say nothing of that.
    package var rights: ImageMetadata? {
        let kept = ImageMetadata(
            exif: exif.flatMap { EXIFBlock.rights(of: $0) },
            xmp: xmp.flatMap { XMPRights.kept(of: $0) },
            iptc: iptc.flatMap { IPTCBlock.rights(of: $0) })
        return kept == ImageMetadata() ? nil : kept
    }
}

extension Image {
    /// The orientation of EXIF, 1…8, that was applied when an image was made of `file`; 1 for files that
    /// have none, and for those of AVIF, HEIC and JPEG XL, which are turned by the format's own property.
    package static func orientation(of file: Data) -> Int {
        guard let loader = VipsLoader(ImageSniffer.format(of: file)),
            let header = try? loader.open(file)
        else { return 1 }
        return header.orientation(in: loader.format)
    }

    /// A file without its colour profile, so that its samples are read as they are, and that profile; `nil`
    /// when it has none for red, green and blue, and for other files than JPEG, PNG and WebP.
    package static func takingProfile(from file: Data) -> (file: Data, profile: Data)? {
        EmbeddedProfile.taken(from: file).map { ($0.file, $0.profile) }
    }
}
