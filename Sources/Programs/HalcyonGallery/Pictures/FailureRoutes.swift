import Foundation
import HalcyonSamples

/// Addresses of the server on this machine that give no picture, or not at once.
enum FailureRoutes {
    static let missing = "/failures/missing.jpg"
    static let truncated = "/failures/truncated.jpg"
    static let page = "/failures/page.jpg"
    static let flaky = "/failures/flaky.jpg"
    static let reset = "/failures/reset.jpg"

    static func add(to origin: SampleServer, samples: SamplePictures) {
        // Without the sample there is a page without picture, which the others show anyway.
        guard let data = try? samples.data("flower.jpg") else { return }
        origin.route(missing, .status(404))
        origin.route(truncated, SampleAnswer(data, end: .cutOff(after: data.count / 2)))
        origin.route(page, .page)
        origin.route(reset, SampleAnswer(data, end: .reset))
        origin.route(flaky, .status(503), .status(503), SampleAnswer(data))
    }
}
