/// The processors that have a text form. A new processor is one new file and one line here.
enum ImageProcessors {
    static let all: [any TextualImageProcessor.Type] = [
        DownsamplingImageProcessor.self,
        ResizingImageProcessor.self,
        CroppingImageProcessor.self,
        RoundCornerImageProcessor.self,
        BorderImageProcessor.self,
        BlurImageProcessor.self,
        OverlayImageProcessor.self,
        TintImageProcessor.self,
        BlendImageProcessor.self,
        ColorControlsProcessor.self,
        BlackWhiteProcessor.self,
    ]
}
