public import Foundation

/// Cuts a rectangle out that is given by its place.
public struct RegionImageProcessor: ImageProcessor {
    /// The rectangle in points, from the top left. What of it lies outside of the image is left out; one
    /// wholly outside is an error.
    public let region: CGRect

    public init(region: CGRect) {
        self.region = region
    }

    public var identifier: String {
        ProcessorIdentifier.make(
            "RegionImageProcessor", "\(region.origin.identifier)_\(region.size.identifier)")
    }

    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        item.image(scaledFor: options)?.kf.crop(to: region)
    }
}

extension RegionImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "region", arguments: ":WIDTHxHEIGHT:X,Y",
        summary: "Cuts a rectangle out, of which X,Y is the top left corner.")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        let size = try arguments.required(.size)
        self.init(region: CGRect(origin: try arguments.required(.place), size: size))
    }

    var argumentTexts: [String] {
        [SpecText.text(of: region.size), SpecText.text(of: region.origin)]
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// What of the image lies in a rectangle, given in points, its edges rounded to whole pixels.
    ///
    /// When all of it lies outside of the image, rendering fails.
    public func crop(to region: CGRect) -> KFCrossPlatformImage {
        base.region(region)
    }
}
