import Foundation
import HalcyonCluster
import HalcyonPixels
import HalcyonServerPlans
import HalcyonWork
import NIOCore
import NIOFoundationCompat

/// What a picture is called among servers, whichever version of its source it is made of.
struct SharedPictureName: Sendable {
    let text: String
    let origin: PictureOrigin

    /// - Parameter tag: Names what is made of any version of the source.
    init(_ origin: PictureOrigin, tag: String) {
        text = "p/" + Digest.sha256.hexadecimal("p1\n\(origin.source)\n\(tag)")
        self.origin = origin
    }

    fileprivate var marks: [String] { PurgeMarks.names(for: origin) }
}

/// A look for a picture at other servers, before anything was known here of its source.
struct PictureGlance: Sendable {
    struct Found: Sendable {
        let picture: MadePicture
        let data: Data
        /// What it is kept under.
        let key: String
        let source: SharedPictureHead.Source
    }

    let found: Found?
    /// Of a look that need not be repeated at once.
    fileprivate let empty: LeasedWork.EmptyGlance?
    fileprivate let name: String
}

extension Cluster {
    private typealias Outcome = Result<PictureMaker.Made, Failure>

    /// A picture that was made: of another server, or made here while the others wait.
    ///
    /// - Parameters:
    ///   - key: What it is kept under.
    ///   - glance: A look that was taken before, for whatever picture.
    ///   - source: What others may know of its source, once it is made.
    ///   - keep: Called with a picture of another server.
    ///   - making: Makes it here.
    func picture(
        _ key: String, as name: SharedPictureName, after glance: PictureGlance?,
        until stopped: Ending, source: @escaping @Sendable () -> SharedPictureHead.Source?,
        keep: @Sendable (MadePicture, Data) -> Void,
        making: @Sendable () async -> Result<PictureMaker.Made, Failure>
    ) async throws(Failure) -> PictureMaker.Made {
        let objectName = Self.name(ofPicture: key)

        @Sendable func shared(_ data: Data) -> Outcome? {
            guard let picture = made(data, of: name.origin, as: key) else { return nil }
            keep(picture, data)
            return .success(PictureMaker.Made(picture: picture, place: .shared, key: key))
        }

        guard let work else {
            let stored = await object(objectName)
            if let found = stored.object.flatMap({ shared($0.body) }) { return try found.get() }
            let made = try await making().get()
            if made.key == key {
                Task {
                    await store(
                        SharedObject(made.picture), as: objectName, replacing: stored != .missing)
                }
            }
            return made
        }

        let outcome: Outcome? = await work.value(
            for: name.text, marks: name.marks,
            after: glance?.name == name.text ? glance?.empty : nil, until: stopped,
            reading: { record, mark in
                switch SharedContent(record.content) {
                case .bytes(let head, let body):
                    // Of another version of the source it is of no use.
                    guard SharedPictureHead(head)?.key == key else { return nil }
                    return shared(Data(buffer: body))
                case .object(let head, _):
                    guard SharedPictureHead(head)?.key == key else { return nil }
                    return await object(objectName, newerThan: mark).flatMap { shared($0.body) }
                case .failure(let failure): return .failure(failure)
                case .head, .elsewhere, nil: return nil
                }
            },
            making: { mark, _ in
                // What was made longer ago than Redis remembers. Nobody could be asked what is too old without a mark.
                let stored = mark == nil ? .missing : await object(objectName)
                @Sendable func publication(
                    of object: SharedObject, isStored: Bool = false, isLasting: Bool = false
                ) -> LeasedWork.Publication {
                    self.publication(
                        of: object, head: SharedPictureHead(key: key, source: source()).text,
                        isStored: isStored, isLasting: isLasting,
                        // One that is of no use would stay.
                        replacing: stored != .missing || mark ?? 0 > 0
                    ) { _ in objectName }
                }
                if let object = stored.object, object.isNewer(than: mark ?? 0),
                    let found = shared(object.body)
                {
                    return LeasedWork.Made(
                        found, publication: publication(of: object, isStored: true))
                }
                let outcome = await making()
                switch outcome {
                case .success(let made):
                    // Of a source that has changed meanwhile, another picture was made.
                    guard made.key == key else {
                        return LeasedWork.Made(outcome, publication: Self.elsewhere)
                    }
                    return LeasedWork.Made(
                        outcome,
                        publication: publication(of: SharedObject(made.picture), isLasting: true))
                case .failure(let failure):
                    return LeasedWork.Made(outcome, publication: self.publication(of: failure))
                }
            })
        guard let outcome else { throw Failure(.clientGone, "nobody waits any longer") }
        return try outcome.get()
    }

    /// A picture of which others have published what was known of its source, too: then nobody has to be asked
    /// about that one, as long as it is fresh.
    ///
    /// - Parameter isFresh: Whether what was known of the source still counts.
    func glance(
        at name: SharedPictureName, isFresh: @Sendable (SharedHead) -> Bool
    ) async -> PictureGlance? {
        guard let work else { return nil }
        let (found, empty) = await work.glance(at: name.text, marks: name.marks) {
            record, mark -> PictureGlance.Found? in
            let (head, body): (Data, ByteBuffer?)
            switch SharedContent(record.content) {
            case .bytes(let known, let bytes): (head, body) = (known, bytes)
            case .object(let known, _): (head, body) = (known, nil)
            default: return nil
            }
            // A server that has not heard of a purge may have made it of what it had.
            guard let known = SharedPictureHead(head), let source = known.source,
                source.generation > mark, isFresh(source.head)
            else { return nil }
            var data = body.map { Data(buffer: $0) }
            if data == nil {
                data = await object(Self.name(ofPicture: known.key), newerThan: mark)?.body
            }
            guard let data, let picture = made(data, of: name.origin, as: known.key) else {
                return nil
            }
            return PictureGlance.Found(
                picture: picture, data: data, key: known.key, source: source)
        }
        return PictureGlance(found: found, empty: empty, name: name.text)
    }

    /// A picture of another server; `nil` for what is none.
    private func made(_ data: Data, of origin: PictureOrigin, as key: String) -> MadePicture? {
        let format = ImageSniffer.format(of: data)
        guard format != .unknown else { return nil }
        return MadePicture(
            key: key, body: ByteBuffer(data: data), format: format, origin: origin,
            isOutOfStore: hasStore)
    }

    /// One of the store that was begun after a mark.
    private func object(_ name: String, newerThan mark: Int64) async -> SharedObject? {
        guard let object = await object(name).object, object.isNewer(than: mark) else { return nil }
        return object
    }
}

extension SharedObject {
    fileprivate init(_ picture: MadePicture) {
        self.init(
            body: Data(buffer: picture.body),
            mediaType: OutputFormat(picture.format)?.mediaType ?? "application/octet-stream")
    }
}
