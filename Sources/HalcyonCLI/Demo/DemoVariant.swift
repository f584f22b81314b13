import Halcyon

/// A sample and the processors it is shown with.
struct DemoVariant: Sendable {
    let sample: String
    /// As given to `--processor`.
    let spec: String

    static let all = [
        DemoVariant(sample: "chelsea.png", spec: "round:40"),
        DemoVariant(sample: "china.jpg", spec: "bw"),
        DemoVariant(sample: "flower.jpg", spec: "crop:240x240|>round:w0.5"),
        DemoVariant(sample: "rocket.jpg", spec: "tint:#00508060"),
        DemoVariant(sample: "coffee.webp", spec: "blur:6"),
        DemoVariant(sample: "retina.jpg", spec: "border:40:#4fc3d9:60"),
        DemoVariant(sample: "astronaut-progressive.jpg", spec: "color:c=1.3,s=0.4"),
        DemoVariant(sample: "kingfisher.svg", spec: "overlay:#ff8000:0.7"),
    ]

    func processor() throws -> any ImageProcessor {
        try ImageProcessorSpec.parse(spec)
    }
}
