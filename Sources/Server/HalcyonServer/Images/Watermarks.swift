import HalcyonServerURLs
import HalcyonWork
import Logging

extension ImageServer {
    /// The watermark in its present version.
    struct PresentWatermark {
        let layer: WatermarkLayer
        /// Changes with the picture and with its opacity.
        let version: String
    }

    /// The plan, with what its watermark is; without one where none is set.
    func withWatermark(
        _ plan: ImagePlan, until ending: Ending
    ) async throws(Failure) -> (ImagePlan, PresentWatermark?) {
        guard plan.options.watermark != nil, !plan.options.raw else { return (plan, nil) }
        guard let watermark else {
            if isFirstMissingWatermark.give(()) {
                logger.warning("A URL asks for a watermark, and none is set: watermark.path")
            }
            var plan = plan
            plan.options.watermark = nil
            return (plan, nil)
        }
        do throws(Failure) {
            let source = try await watermark.source(in: sources, until: ending)
            let image = try await watermark.image(
                of: source, in: sources, limits: rules.decodingLimits, until: ending)
            let opacity = configuration.watermark.opacity
            return (
                plan,
                PresentWatermark(
                    layer: WatermarkLayer(image: image, opacity: opacity),
                    version: "\(source.key) \(source.validator) \(opacity)")
            )
        } catch {
            guard error.kind.allowsFallback else { throw error }
            // It is the operator's picture that is missing, not the one that was asked for.
            throw Failure(
                .internalError, "The watermark cannot be had", cause: error.cause ?? error.detail)
        }
    }
}
