import Foundation
import HalcyonPixels
import HalcyonServerURLs
import HalcyonWork
import Synchronization

/// A picture that the operator has set: the watermark, or the one that stands in for others.
final class StandingPicture: Sendable {
    /// Where its bytes come from.
    enum Origin: Sendable {
        case here(FoundSource)
        case url(String)
    }

    let origin: Origin
    private let decoded = Mutex<(validator: String, image: Image)?>(nil)

    private init(_ origin: Origin) { self.origin = origin }

    /// `nil` when none is set.
    ///
    /// - Parameter faults: Told what is wrong, in the words of the settings that begin with `name`.
    static func make(
        _ settings: ImageServerConfiguration.StandingPicture, named name: String,
        _ policy: SourcePolicy, _ faults: inout [String]
    ) -> StandingPicture? {
        if settings.count > 1 {
            faults.append("Only one of \(name).path, \(name).url and \(name).data may be set.")
        } else if let path = settings.path {
            guard let data = FileManager.default.contents(atPath: path) else {
                faults.append("\(name).path: the file \(path) cannot be read.")
                return nil
            }
            return make(data, "\(name).path", &faults)
        } else if let text = settings.data {
            guard let data = Data(base64Encoded: text) else {
                faults.append("\(name).data is not base64.")
                return nil
            }
            return make(data, "\(name).data", &faults)
        } else if let url = settings.url {
            do throws(PlanError) {
                _ = try policy.reference(url)
                return StandingPicture(.url(url))
            } catch {
                faults.append("\(name).url: \(error.reason)")
            }
        }
        return nil
    }

    private static func make(
        _ data: Data, _ setting: String, _ faults: inout [String]
    ) -> StandingPicture? {
        do {
            _ = try Image.decoding(data).bitmap()
        } catch {
            faults.append("\(setting): the picture cannot be decoded: \(error)")
            return nil
        }
        let source = FoundSource(standing: data, digest: Digest.sha256.hexadecimal(data))
        return StandingPicture(.here(source))
    }

    func source(in finder: SourceFinder, until ending: Ending) async throws(Failure) -> FoundSource
    {
        switch origin {
        case .here(var source):
            source.visit = finder.purges.visit()
            return source
        case .url(let url):
            return try await finder.find(url, until: ending)
        }
    }

    /// Has it decoded again before it is used.
    func forget() { decoded.withLock { $0 = nil } }

    /// The picture itself, decoded once for each version of it.
    func image(
        of source: FoundSource, in finder: SourceFinder, limits: DecodingLimits,
        until ending: Ending
    ) async throws(Failure) -> Image {
        if let known = decoded.withLock({ $0 }), known.validator == source.validator {
            return known.image
        }
        let (data, now) = try await finder.bytes(of: source, until: ending)
        let result = await DecodingPool.shared.run {
            Result { () throws(Failure) in
                try Failure.ofPicture {
                    let options = ImageCreatingOptions(onlyFirstFrame: true, limits: limits)
                    let image = try Image.decoding(data, options: options)
                    _ = try image.bitmap()
                    return image
                }
            }
        }
        let image = try result.get()
        decoded.withLock { $0 = (now.validator, image) }
        return image
    }
}
