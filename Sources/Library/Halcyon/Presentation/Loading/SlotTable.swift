/// The loaders of holders without storage of their own, kept during loads.
///
/// An entry is removed when its last load has ended, so the table needs no notice of released
/// holders. Not a `WorkTable`: loads of one slot replace each other.
@MainActor final class SlotTable {
    static let shared = SlotTable()

    enum Slot: Hashable {
        case image
        case alternateImage
        case stateImage(ControlState)
        case stateBackground(ControlState)

        var isStateImage: Bool { if case .stateImage = self { true } else { false } }
        var isStateBackground: Bool { if case .stateBackground = self { true } else { false } }
    }

    private struct Key: Hashable {
        let holder: ObjectIdentifier
        let slot: Slot
    }

    private struct Occupied {
        /// Distinguishes a holder from a later one at the same address.
        weak var holder: AnyObject?
        let loader: ImageSlotLoader
    }

    private var entries: [Key: Occupied] = [:]

    func contains(_ loader: ImageSlotLoader) -> Bool {
        entries.values.contains { $0.loader === loader }
    }

    /// Returns the loader of a slot; creates one if there is none.
    func loader(of holder: AnyObject, _ slot: Slot) -> ImageSlotLoader {
        if let loader = runningLoader(of: holder, slot) { return loader }
        let key = Key(holder: ObjectIdentifier(holder), slot: slot)
        let made = ImageSlotLoader { [unowned self] loader in
            // A later holder at the same address may have an entry of its own by now.
            if entries[key]?.loader === loader { entries[key] = nil }
        }
        entries[key] = Occupied(holder: holder, loader: made)
        return made
    }

    func runningLoader(of holder: AnyObject, _ slot: Slot) -> ImageSlotLoader? {
        let entry = entries[Key(holder: ObjectIdentifier(holder), slot: slot)]
        return entry?.holder === holder ? entry?.loader : nil
    }

    func cancelLoads(of holder: AnyObject, where isIncluded: (Slot) -> Bool) {
        let id = ObjectIdentifier(holder)
        let running = entries.filter { key, entry in
            key.holder == id && entry.holder === holder && isIncluded(key.slot)
        }
        for entry in running.values { entry.loader.cancel() }
    }
}

/// A part of an object that can do nothing but hold an image.
@MainActor struct ImagePart<Holder: AnyObject> {
    let slot: SlotTable.Slot
    let get: @MainActor (Holder) -> KFCrossPlatformImage?
    let set: @MainActor (Holder, KFCrossPlatformImage?, KingfisherParsedOptionsInfo) -> Void
}

/// A part of an object with the placeholder of a load.
@MainActor private struct ImagePartSlot<Holder: AnyObject>: ImageSlot {
    weak var holder: Holder?
    let part: ImagePart<Holder>
    let placeholder: KFCrossPlatformImage?

    var isThere: Bool { holder != nil }

    var isEmpty: Bool { holder.flatMap(part.get) == nil }

    func showPlaceholder(_ options: KingfisherParsedOptionsInfo) {
        preview(placeholder, options: options)
    }

    func preview(_ image: KFCrossPlatformImage?, options: KingfisherParsedOptionsInfo) {
        if let holder { part.set(holder, image, options) }
    }

    func fail(with error: KingfisherError, options: KingfisherParsedOptionsInfo) {
        if let image = options.onFailureImage { preview(image, options: options) }
    }
}

@MainActor extension KingfisherWrapper where Base: AnyObject {
    func load(
        _ source: Source?, into part: ImagePart<Base>, placeholder: KFCrossPlatformImage?,
        options: KingfisherParsedOptionsInfo, progress: DownloadProgressBlock?,
        completion: ImageSettingCompletion?
    ) -> DownloadTask? {
        SlotTable.shared.loader(of: base, part.slot).load(
            source, into: ImagePartSlot(holder: base, part: part, placeholder: placeholder),
            options: options, progress: progress, completion: completion)
    }
}
