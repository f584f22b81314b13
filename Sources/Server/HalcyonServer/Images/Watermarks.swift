import HalcyonPixels
import HalcyonServerURLs
import HalcyonWork
import Logging

/// A plan as it is carried out: with the present version of its watermark.
struct MarkedPlan: Sendable {
    let plan: ImagePlan
    let layer: WatermarkLayer?
    /// One text for all plans that give the same result for a source.
    let text: String

    /// - Parameter version: The version of the watermark; changes with its picture and its opacity.
    init(_ plan: ImagePlan, _ layer: WatermarkLayer? = nil, version: String? = nil) {
        self.plan = plan
        self.layer = layer
        text = plan.canonicalText + (version.map { "\nwatermark \($0)" } ?? "")
    }
}

struct Watermarks: Sendable {
    /// `nil` where none is set.
    let picture: StandingPicture?
    /// 0…1.
    let opacity: Double
    let sources: SourceFinder
    let limits: DecodingLimits
    let logger: Logger
    /// Given when a URL has asked for a watermark although there is none.
    private let isFirstMissing = OneShot<Void>()

    /// Returns the plan with its watermark; without one where none is set.
    func marked(_ plan: ImagePlan, until ending: Ending) async throws(Failure) -> MarkedPlan {
        guard plan.options.watermark != nil, !plan.options.raw else { return MarkedPlan(plan) }
        guard let picture else {
            if isFirstMissing.give(()) {
                logger.warning("A URL asks for a watermark, and none is set: watermark.path")
            }
            var plan = plan
            plan.options.watermark = nil
            return MarkedPlan(plan)
        }
        do throws(Failure) {
            let source = try await picture.source(in: sources, until: ending)
            let image = try await picture.image(
                of: source, in: sources, limits: limits, until: ending)
            return MarkedPlan(
                plan, WatermarkLayer(image: image, opacity: opacity),
                version: "\(source.key) \(source.validator) \(opacity)")
        } catch {
            guard error.kind.allowsFallback else { throw error }
            // It is the operator's picture that is missing, not the one that was asked for.
            throw Failure(
                .internalError, "The watermark cannot be had", cause: error.cause ?? error.detail)
        }
    }
}
