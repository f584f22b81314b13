import Foundation
import HalcyonCluster
import HalcyonPixels
import HalcyonServerURLs
import HalcyonWork
import NIOCore
import NIOFoundationCompat

/// The name of a picture among servers, the same for all versions of its source.
struct SharedPictureName: Sendable {
    let text: String
    let origin: PictureOrigin

    /// - Parameter tag: Names the result for any version of the source.
    init(_ origin: PictureOrigin, tag: String) {
        text = "p/" + Digest.sha256.hexadecimal("p1\n\(origin.source)\n\(tag)")
        self.origin = origin
    }

    fileprivate var marks: [String] { PurgeMarks.names(for: origin) }
}

/// A lookup of a picture at other servers, before anything is known here of its source.
struct PictureGlance: Sendable {
    struct Found: Sendable {
        let picture: MadePicture
        let data: Data
        let key: String
        let source: SharedPictureHead.Source
    }

    let found: Found?
    /// The empty result of a lookup that need not be repeated at once.
    fileprivate let empty: LeasedWork.EmptyGlance?
    fileprivate let name: String
}

extension Cluster {
    private typealias Outcome = Result<PictureMaker.Made, Failure>

    /// Returns a picture: another server's, or one made here while the others wait.
    ///
    /// - Parameters:
    ///   - glance: An earlier lookup, whatever picture it was for.
    ///   - source: Returns the shareable head of the picture's source, once the picture is made.
    ///   - keep: Called with a picture of another server.
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
                let content = SharedContent(record.content)
                if case .failure(let failure, let failed) = content {
                    return failed == key ? .failure(failure) : nil
                }
                // Useless if made of another version of the source.
                guard let content, let head = content.head.flatMap({ SharedPictureHead($0) }),
                    head.key == key,
                    let found = await bytes(content, of: key, newerThan: mark).flatMap({
                        shared($0)
                    })
                else { return nil }
                amend(record, content, of: name, head, with: source(), mark: mark)
                return found
            },
            making: { mark, _ in
                // For pictures older than Redis's records. Without a mark, none can be known to be
                // recent enough.
                let stored = mark == nil ? .missing : await object(objectName)
                @Sendable func publication(
                    of object: SharedObject, isStored: Bool = false, isLasting: Bool = false
                ) -> LeasedWork.Publication {
                    self.publication(
                        of: object, head: SharedPictureHead(key: key, source: source()).text,
                        isStored: isStored, isLasting: isLasting,
                        // A useless one would stay otherwise.
                        replacing: stored != .missing
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
                    // If the source has changed meanwhile, another picture was made; if it is from
                    // before a purge that this server has not heard of yet, an old one.
                    guard made.key == key,
                        await isCurrent(made.sourceGeneration, of: name.origin, mark ?? 0)
                    else { return LeasedWork.Made(outcome, publication: Self.elsewhere) }
                    return LeasedWork.Made(
                        outcome,
                        publication: publication(of: SharedObject(made.picture), isLasting: true))
                case .failure(let failure):
                    return LeasedWork.Made(
                        outcome, publication: self.publication(of: failure, at: key))
                }
            })
        guard let outcome else { throw Failure(.clientGone, "nobody waits any longer") }
        return try outcome.get()
    }

    /// Looks up a picture together with the published head of its source: no server has to be asked
    /// about the source as long as that is fresh.
    ///
    /// - Parameter current: Returns the present head of the source, if the picture may be sent with
    ///   it; called with the head published with the picture.
    func glance(
        at name: SharedPictureName,
        current: @Sendable (SharedPictureHead.Source) async -> SharedPictureHead.Source?
    ) async -> PictureGlance? {
        guard let work else { return nil }
        let (found, empty) = await work.glance(at: name.text, marks: name.marks) {
            record, mark -> PictureGlance.Found? in
            // A server that has not heard of a purge may have made it of an old source.
            guard let content = SharedContent(record.content),
                let known = content.head.flatMap({ SharedPictureHead($0) }),
                let told = known.source, told.generation > mark,
                let source = await current(told),
                let data = await bytes(content, of: known.key, newerThan: mark),
                let picture = made(data, of: name.origin, as: known.key)
            else { return nil }
            amend(record, content, of: name, known, with: source, mark: mark)
            return PictureGlance.Found(picture: picture, data: data, key: known.key, source: source)
        }
        return PictureGlance(found: found, empty: empty, name: name.text)
    }

    /// Updates the head of the source in a picture's record, so that servers that find the record
    /// need not ask the source's server: the recorded head is no longer fresh.
    private func amend(
        _ record: SharedRecord, _ content: SharedContent, of name: SharedPictureName,
        _ head: SharedPictureHead, with source: SharedPictureHead.Source?, mark: Int64
    ) {
        guard let source, source.generation > max(mark, head.source?.generation ?? 0),
            source.head.text != nil,
            let content = content.replacing(
                head: SharedPictureHead(key: head.key, source: source).text)
        else { return }
        work?.amend(
            SharedRecord(generation: record.generation, content: content.buffer),
            of: name.text, lifetime: settings.maxAge)
    }

    /// Returns the bytes of a recorded picture; from the store only if begun after a mark.
    private func bytes(
        _ content: SharedContent, of key: String, newerThan mark: Int64
    ) async -> Data? {
        switch content {
        case .bytes(_, let body): Data(buffer: body)
        case .object: await object(Self.name(ofPicture: key), newerThan: mark)?.body
        case .head, .elsewhere, .failure: nil
        }
    }

    /// Returns a picture of another server; `nil` for data of an unknown format.
    private func made(_ data: Data, of origin: PictureOrigin, as key: String) -> MadePicture? {
        let format = ImageSniffer.format(of: data)
        guard format != .unknown else { return nil }
        return MadePicture(
            key: key, body: ByteBuffer(data: data), format: format, origin: origin,
            isOutOfStore: hasStore)
    }

    /// Whether a source was requested after all purges that concern it.
    ///
    /// - Parameters:
    ///   - generation: The source's generation among servers; `nil` for a source without a server.
    ///   - mark: The latest purge that concerns the picture.
    private func isCurrent(
        _ generation: Int64?, of origin: PictureOrigin, _ mark: Int64
    ) async -> Bool {
        guard let generation, PurgeMark(time: mark).isAfter(generation) else { return true }
        // Perhaps the picture alone was purged.
        let name = Self.name(ofSource: origin.source)
        let marks = PurgeMarks.names(forSource: origin.source, url: origin.url)
        guard let known = await work?.mark(of: name, among: marks) else { return false }
        return !PurgeMark(time: known).isAfter(generation)
    }

    /// Returns an object of the store that was begun after a mark.
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
