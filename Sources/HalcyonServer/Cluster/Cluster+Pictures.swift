import Foundation
import HalcyonCluster
import HalcyonPixels
import HalcyonServerPlans
import NIOCore
import NIOFoundationCompat

extension Cluster {
    private typealias Outcome = Result<PictureMaker.Made, Failure>

    /// A picture that was made: of another server, or made here while the others wait.
    ///
    /// - Parameters:
    ///   - keep: Called with a picture of another server.
    ///   - making: Makes it here.
    func picture(
        _ key: String, of origin: PictureOrigin, until stopped: Ending,
        keep: @Sendable (MadePicture, Data) -> Void,
        making: @Sendable () async -> Result<PictureMaker.Made, Failure>
    ) async throws(Failure) -> PictureMaker.Made {
        let name = Self.name(ofPicture: key)

        @Sendable func shared(_ data: Data) -> Outcome? {
            let format = ImageSniffer.format(of: data)
            guard format != .unknown else { return nil }
            let picture = MadePicture(
                key: key, body: ByteBuffer(data: data), format: format, origin: origin)
            keep(picture, data)
            return .success(PictureMaker.Made(picture: picture, place: .shared, key: key))
        }

        guard let work else {
            if let object = await object(name), let found = shared(object.body) {
                return try found.get()
            }
            let made = try await making().get()
            if made.key == key {
                Task { await store(SharedObject(made.picture), as: name) }
            }
            return made
        }
        /// One of the store that was begun after a mark; `nil` also when nobody could be asked for marks.
        @Sendable func stored(newerThan mark: Int64?) async -> SharedObject? {
            guard let mark, let object = await object(name), object.isNewer(than: mark)
            else { return nil }
            return object
        }

        let outcome: Outcome? = await work.value(
            for: name, marks: PurgeMarks.names(for: origin), until: stopped,
            reading: { content, mark in
                switch SharedContent(content) {
                case .bytes(_, let body): return shared(Data(buffer: body))
                case .object:
                    return await stored(newerThan: mark).flatMap { shared($0.body) }
                case .failure(let failure): return .failure(failure)
                case .elsewhere, nil: return nil
                }
            },
            making: { mark in
                // What was made longer ago than Redis remembers.
                if let object = await stored(newerThan: mark), let found = shared(object.body) {
                    return LeasedWork.Made(
                        found, publication: publication(of: object, isStored: true) { _ in name })
                }
                let outcome = await making()
                switch outcome {
                case .success(let made):
                    // Of a source that has changed meanwhile, another picture was made.
                    guard made.key == key else {
                        return LeasedWork.Made(outcome, publication: Self.elsewhere)
                    }
                    let object = SharedObject(made.picture)
                    return LeasedWork.Made(
                        outcome,
                        publication: publication(
                            of: object, isLasting: true, replacing: mark ?? 0 > 0
                        ) { _ in name })
                case .failure(let failure):
                    return LeasedWork.Made(outcome, publication: publication(of: failure))
                }
            })
        guard let outcome else { throw Failure(.clientGone, "nobody waits any longer") }
        return try outcome.get()
    }
}

extension SharedObject {
    fileprivate init(_ picture: MadePicture) {
        self.init(
            body: Data(buffer: picture.body),
            mediaType: OutputFormat(picture.format)?.mediaType ?? "application/octet-stream")
    }
}
