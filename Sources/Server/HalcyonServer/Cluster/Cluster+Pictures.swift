import Foundation
import HalcyonCluster
import HalcyonPixels
import HalcyonServerURLs
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
                let content = SharedContent(record.content)
                if case .failure(let failure, let failed) = content {
                    return failed == key ? .failure(failure) : nil
                }
                // Of another version of the source it is of no use.
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
                // What was made longer ago than Redis remembers. Nobody could be asked what is too old without a mark.
                let stored = mark == nil ? .missing : await object(objectName)
                @Sendable func publication(
                    of object: SharedObject, isStored: Bool = false, isLasting: Bool = false
                ) -> LeasedWork.Publication {
                    self.publication(
                        of: object, head: SharedPictureHead(key: key, source: source()).text,
                        isStored: isStored, isLasting: isLasting,
                        // One that is of no use would stay.
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
                    // Of a source that has changed meanwhile, another picture was made; of one from before a purge, of
                    // which this server has not heard yet, an old one.
                    guard made.key == key,
                        await isCurrent(made.sourceGeneration, of: name.origin, mark ?? 0)
                    else {
                        return LeasedWork.Made(outcome, publication: Self.elsewhere)
                    }
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

    /// A picture of which others have published what was known of its source, too: then nobody has to be asked
    /// about that one, as long as it is fresh.
    ///
    /// - Parameter current: What is known of the source by now, if the picture may be sent with it; told what was
    ///   published with the picture.
    func glance(
        at name: SharedPictureName,
        current: @Sendable (SharedPictureHead.Source) async -> SharedPictureHead.Source?
    ) async -> PictureGlance? {
        guard let work else { return nil }
        let (found, empty) = await work.glance(at: name.text, marks: name.marks) {
            record, mark -> PictureGlance.Found? in
            // A server that has not heard of a purge may have made it of what it had.
            guard let content = SharedContent(record.content),
                let known = content.head.flatMap({ SharedPictureHead($0) }),
                let told = known.source, told.generation > mark,
                let source = await current(told),
                let data = await bytes(content, of: known.key, newerThan: mark),
                let picture = made(data, of: name.origin, as: known.key)
            else { return nil }
            amend(record, content, of: name, known, with: source, mark: mark)
            return PictureGlance.Found(
                picture: picture, data: data, key: known.key, source: source)
        }
        return PictureGlance(found: found, empty: empty, name: name.text)
    }

    /// Has the record of a picture say what the server of its source has said since, so that those who find it need
    /// not ask: its own time is over when that of the source was.
    ///
    /// - Parameter head: What the record says.
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

    /// The bytes of a picture that a record tells of; those of the store only if they were begun after a mark.
    private func bytes(
        _ content: SharedContent, of key: String, newerThan mark: Int64
    ) async -> Data? {
        switch content {
        case .bytes(_, let body): Data(buffer: body)
        case .object: await object(Self.name(ofPicture: key), newerThan: mark)?.body
        case .head, .elsewhere, .failure: nil
        }
    }

    /// A picture of another server; `nil` for what is none.
    private func made(_ data: Data, of origin: PictureOrigin, as key: String) -> MadePicture? {
        let format = ImageSniffer.format(of: data)
        guard format != .unknown else { return nil }
        return MadePicture(
            key: key, body: ByteBuffer(data: data), format: format, origin: origin,
            isOutOfStore: hasStore)
    }

    /// Whether a source was asked for after all purges that concern it.
    ///
    /// - Parameters:
    ///   - generation: That of the source among servers; `nil` for one that is no server's.
    ///   - mark: The latest that concerns the picture.
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
