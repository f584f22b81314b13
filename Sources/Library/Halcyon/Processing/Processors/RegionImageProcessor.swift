public import Foundation

/// Crops to a rectangle given by its position.
public struct RegionImageProcessor: ImageProcessor, StepImageProcessor {
    /// The rectangle in points, from the top left. It is limited to the image; one entirely outside
    /// is an error.
    public let region: CGRect

    public init(region: CGRect) {
        self.region = region
    }

    public var identifier: String {
        ProcessorIdentifier.make(
            "RegionImageProcessor", "\(region.origin.identifier)_\(region.size.identifier)")
    }

    func step(_ image: Image) -> Image { image.kf.crop(to: region) }
}

extension RegionImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "region", arguments: ":WIDTHxHEIGHT:X,Y",
        summary: "Cuts a rectangle out, of which X,Y is the top left corner.")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        let size = try arguments.required(.size)
        self.init(region: CGRect(origin: try arguments.required(.place), size: size))
    }

    var writtenArguments: [(any SpecValue)?] { [region.size, region.origin] }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// Crops to a rectangle, given in points, its edges rounded to whole pixels.
    ///
    /// Rendering fails if the rectangle lies entirely outside the image.
    public func crop(to region: CGRect) -> KFCrossPlatformImage {
        base.region(region)
    }
}
