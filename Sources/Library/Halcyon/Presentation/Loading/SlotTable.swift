/// The loaders of holders that do not keep one themselves, for as long as something is being loaded.
///
/// An entry goes when its last load has ended, so the table needs no notice of holders that are gone.
@MainActor final class SlotTable {
    static let shared = SlotTable()

    /// One of a holder's slots.
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
        /// Tells a holder from a later one at the same address.
        weak var holder: AnyObject?
        let loader: ImageSlotLoader
    }

    private var entries: [Key: Occupied] = [:]

    /// How many slots something is being loaded for.
    var count: Int { entries.count }

    /// The loader of a slot, made when there is none.
    func loader(of holder: AnyObject, _ slot: Slot) -> ImageSlotLoader {
        if let loader = runningLoader(of: holder, slot) { return loader }
        let key = Key(holder: ObjectIdentifier(holder), slot: slot)
        let made = ImageSlotLoader { [unowned self] loader in
            // A later holder at the same address has an entry of its own by now.
            if entries[key]?.loader === loader { entries[key] = nil }
        }
        entries[key] = Occupied(holder: holder, loader: made)
        return made
    }

    /// The loader of a slot, when something is being loaded.
    func runningLoader(of holder: AnyObject, _ slot: Slot) -> ImageSlotLoader? {
        let entry = entries[Key(holder: ObjectIdentifier(holder), slot: slot)]
        return entry?.holder === holder ? entry?.loader : nil
    }

    /// The loaders of those slots something is being loaded for.
    func runningLoaders(of holder: AnyObject, where isIncluded: (Slot) -> Bool) -> [ImageSlotLoader]
    {
        let id = ObjectIdentifier(holder)
        return entries.filter { key, entry in
            key.holder == id && entry.holder === holder && isIncluded(key.slot)
        }.map(\.value.loader)
    }
}
