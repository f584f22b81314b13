import Foundation
import HalcyonCluster
import HalcyonPixels
import HalcyonServerPlans
import NIOCore
import NIOFoundationCompat

extension Cluster {
    /// A picture that was made: of another server, or made here while the others wait.
    ///
    /// - Parameters:
    ///   - keep: Called with a picture of another server.
    ///   - making: Makes it here.
    func picture(
        _ key: String, until stopped: Ending,
        keep: @Sendable (MadePicture, Data) -> Void,
        making: @Sendable () async -> Result<PictureMaker.Made, Failure>
    ) async throws(Failure) -> PictureMaker.Made {
        let outcome: Result<PictureMaker.Made, Failure>? = await work.value(
            for: "r/\(key)", until: stopped,
            reading: { content in
                switch SharedContent(content) {
                case .bytes(_, let body):
                    let data = Data(buffer: body)
                    let format = ImageSniffer.format(of: data)
                    guard format != .unknown else { return nil }
                    let picture = MadePicture(body: ByteBuffer(data: data), format: format)
                    keep(picture, data)
                    return .success(PictureMaker.Made(picture: picture, place: .shared, key: key))
                case .failure(let failure): return .failure(failure)
                case .elsewhere, nil: return nil
                }
            },
            making: {
                let result = await making()
                let publication: LeasedWork.Publication? =
                    switch result {
                    // Of a source that has changed meanwhile, another picture was made.
                    case .success(let made):
                        made.key == key ? publication(of: made.picture.body) : Self.elsewhere
                    case .failure(let failure): publication(of: failure)
                    }
                return LeasedWork.Made(result, publication: publication)
            })
        guard let outcome else { throw Failure(.clientGone, "nobody waits any longer") }
        return try outcome.get()
    }
}
