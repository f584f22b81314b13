/// The loaders of holders without storage of their own, kept during loads.
///
/// An entry is removed when its last load has ended, so the table needs no notice of released
/// holders.
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

    /// Whether a load of `loader` is running.
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

    func runningLoaders(of holder: AnyObject, where isIncluded: (Slot) -> Bool) -> [ImageSlotLoader]
    {
        let id = ObjectIdentifier(holder)
        return entries.filter { key, entry in
            key.holder == id && entry.holder === holder && isIncluded(key.slot)
        }.map(\.value.loader)
    }
}
