import DirectCodecs
import Foundation

extension ImageInformation {
    /// Reads the boxes of AVIF and HEIC: the primary picture, or the track of a sequence.
    static func ofHEIF(_ file: FilePart, _ format: ImageFormat) -> ImageInformation? {
        let brand = ISOMediaBrands(file.bytes)?.brands.first ?? ""
        if HEIFProperties.sequenceBrands.contains(brand) {
            return whole("moov", in: file).flatMap { HEIFTrack.first(format, in: $0) }?.information
        }
        return whole("meta", in: file).flatMap { HEIFItems($0).information(format, in: file) }
    }

    /// The number of times the sequence in a whole file plays; 0 means forever.
    static func loopCount(ofHEIF data: Data) -> Int {
        data.withUnsafeBytes { bytes in
            let file = FilePart(bytes: bytes, isWhole: true)
            return whole("moov", in: file).flatMap { HEIFTrack.first(.AVIF, in: $0) }?.loopCount
                ?? 0
        }
    }

    /// A box at the top of the file, once all of it is there.
    private static func whole(_ type: String, in file: FilePart) -> ISOBoxes.Box? {
        guard let box = ISOBoxes(file.bytes).first(type),
            file.isWhole || box.content.upperBound <= file.bytes.count
        else { return nil }
        return box
    }
}

/// The items of a HEIF file and what is said of them (ISO/IEC 23008-12, ISO/IEC 14496-12, 8.11).
struct HEIFItems {
    private var primary = 0
    private var types: [Int: String] = [:]
    /// The properties of each item, in the order in which they are to be applied.
    private var properties: [Int: [ISOBoxes.Box]] = [:]
    private var auxiliary: [(from: Int, to: [Int])] = []
    /// The first of the items that an item is made of.
    private var parts: [Int: Int] = [:]
    private var locations: ISOBoxes.Box?

    /// More items, and more properties of one, are not looked at.
    private static let most = 4096

    init(_ meta: ISOBoxes.Box) {
        for box in meta.boxes(skipping: 4) {
            switch box.type {
            // A number of 2 bytes, or of 4 from version 1 on.
            case "pitm": primary = box.number(4, box.byte(0) == 0 ? 2 : 4) ?? 0
            case "iinf": readTypes(box)
            case "iref": readReferences(box)
            case "iprp": readProperties(box)
            case "iloc": locations = box
            default: break
            }
        }
    }

    private mutating func readTypes(_ box: ISOBoxes.Box) {
        for entry in box.boxes(skipping: box.byte(0) == 0 ? 6 : 8).prefix(Self.most)
        where entry.type == "infe" {
            guard let version = entry.byte(0), version >= 2 else { continue }
            let length = version == 2 ? 2 : 4
            guard let item = entry.number(4, length), let type = entry.code(6 + length) else {
                continue
            }
            types[item] = type
        }
    }

    private mutating func readReferences(_ box: ISOBoxes.Box) {
        for reference in HEIFReference.all(in: box) {
            switch reference.type {
            case "auxl": auxiliary.append((reference.from, Array(reference.to.prefix(64))))
            case "dimg": parts[reference.from] = reference.to.first
            default: break
            }
        }
    }

    /// The storage of the primary picture and the meaning of its colours: for one that is made of others, as
    /// the first of them is.
    var primaryPicture: HEIFPicture {
        var picture = HEIFPicture([])
        var item = primary
        // Files are not nested deeply, and may be in circles.
        for _ in 0..<8 {
            picture.type = types[item]
            for box in properties[item] ?? [] { picture.take(box) }
            guard let part = parts[item], ["grid", "iovl", "iden"].contains(types[item]) else {
                break
            }
            item = part
        }
        return picture
    }

    private mutating func readProperties(_ box: ISOBoxes.Box) {
        guard let container = box.boxes().first("ipco") else { return }
        let all = Array(container.boxes().prefix(Self.most))
        for table in box.boxes() where table.type == "ipma" {
            guard let version = table.byte(0), let flags = table.byte(3),
                let count = table.number(4, 4)
            else { continue }
            var offset = 8
            for _ in 0..<min(count, Self.most) {
                let length = version == 0 ? 2 : 4
                guard let item = table.number(offset, length),
                    let entries = table.byte(offset + length).map(Int.init)
                else { break }
                offset += length + 1
                let size = flags & 1 == 1 ? 2 : 1
                guard offset + entries * size <= table.available else { break }
                // The uppermost bit says whether the property must be understood.
                properties[item] = (0..<entries).compactMap { index in
                    let place = table.number(offset + index * size, size)
                        .map { ($0 & (size == 2 ? 0x7FFF : 0x7F)) - 1 }
                    return place.flatMap { all.indices.contains($0) ? all[$0] : nil }
                }
                offset += entries * size
            }
        }
    }

    func information(_ format: ImageFormat, in file: FilePart) -> ImageInformation? {
        guard let own = properties[primary], let sides = own.first(where: { $0.type == "ispe" }),
            let width = sides.number(4, 4), let height = sides.number(8, 4)
        else { return nil }
        let stored = PixelSize(width: width, height: height)
        var information = ImageInformation(format, size: stored.shown(by: own))
        let picture = HEIFPicture(own)
        information.bitsPerSample =
            own.last { $0.type == "pixi" }?.byte(5).map(Int.init) ?? picture.depth
        information.colorProfile =
            picture.colorProfile
            ?? primaryPicture.colours.map {
                .coded(primaries: $0.primaries, transfer: $0.transfer)
            }
        information.frameCount = 1
        let auxiliaries = auxiliary.filter { $0.to.contains(primary) }.map { names(of: $0.from) }
        information.hasAlpha = auxiliaries.contains { name in
            name.contains("auxiliary:alpha") || name == "urn:mpeg:hevc:2015:auxid:1"
        }
        information.hasGainMap =
            types.values.contains("tmap") || auxiliaries.contains { $0.contains("hdrgainmap") }
        if let exif = exif(in: file) {
            // Four bytes tell where behind them the block begins.
            information.camera = exif.bigEndian(0, 4).flatMap { gap in
                exif.slice(4 + gap, count: exif.count - 4 - gap)
            }.flatMap { $0.isEmpty ? nil : ImageInformation.Camera(exif: $0) }
        } else {
            information.isComplete = false
        }
        return information
    }

    /// The type of an auxiliary picture, from its `auxC` box; empty if it has none.
    private func names(of item: Int) -> String {
        guard let box = properties[item]?.first(where: { $0.type == "auxC" }),
            let text = box.slice(4, count: min(box.content.count - 4, 64))
        else { return "" }
        return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// The place of EXIF data: none when there is none, `nil` when it has not come yet.
    private func exif(in file: FilePart) -> UnsafeRawBufferPointer? {
        guard let item = types.filter({ $0.value == "Exif" }).keys.min(), let locations,
            let place = place(of: item, in: locations)
        else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return file.bytes.slice(place.lowerBound, count: place.count)
    }
}

extension HEIFItems {
    /// The first piece of an item that lies in the file itself, by the box of locations (ISO/IEC 14496-12,
    /// 8.11.3).
    private func place(of item: Int, in box: ISOBoxes.Box) -> Range<Int>? {
        guard let version = box.byte(0), version <= 2, let sizes = box.number(4, 2) else {
            return nil
        }
        let (offsetSize, lengthSize) = (sizes >> 12, sizes >> 8 & 15)
        let (baseSize, indexSize) = (sizes >> 4 & 15, version > 0 ? sizes & 15 : 0)
        let idSize = version < 2 ? 2 : 4
        guard [offsetSize, lengthSize, baseSize].allSatisfy([0, 2, 4, 8].contains),
            let count = box.number(6, idSize)
        else { return nil }
        var offset = 6 + idSize
        for _ in 0..<min(count, 4096) {
            guard let id = box.number(offset, idSize) else { return nil }
            offset += idSize
            var method = 0
            if version > 0 {
                method = (box.number(offset, 2) ?? 0) & 15
                offset += 2
            }
            offset += 2
            guard let base = box.number(offset, baseSize),
                let pieces = box.number(offset + baseSize, 2)
            else { return nil }
            offset += baseSize + 2
            if id == item {
                guard method == 0, pieces == 1,
                    let place = box.number(offset + indexSize, offsetSize),
                    let length = box.number(offset + indexSize + offsetSize, lengthSize)
                else { return nil }
                return base + place..<base + place + length
            }
            offset += pieces * (indexSize + offsetSize + lengthSize)
        }
        return nil
    }
}

extension PixelSize {
    /// The size behind the crop and the turn, which are done in this order however they are listed.
    fileprivate func shown(by properties: [ISOBoxes.Box]) -> PixelSize {
        func first(_ type: String) -> ISOBoxes.Box? { properties.first { $0.type == type } }
        let shown = first("clap").flatMap(PixelSize.init(cleanAperture:)) ?? self
        return first("irot")?.byte(0).map { $0 & 1 } == 1 ? shown.transposed : shown
    }

    /// The size of a clean aperture (ISO/IEC 14496-12, 12.1.4), two quotients.
    private init?(cleanAperture box: ISOBoxes.Box) {
        let sides = [0, 8].compactMap { place -> Int? in
            guard let over = box.number(place, 4), let under = box.number(place + 4, 4), under > 0
            else { return nil }
            return over / under
        }
        guard sides.count == 2 else { return nil }
        self.init(width: sides[0], height: sides[1])
    }
}

/// The pictures of a sequence (ISO/IEC 23008-12, 7).
private struct HEIFTrack {
    private(set) var information: ImageInformation
    private var durations: [Double] = []
    /// 0 means for ever.
    private(set) var loopCount = 0
    private var isPicture = false
    private var isAlpha = false

    /// More frames are not counted one by one.
    private static let mostFrames = 65_536

    /// The first track of pictures; with `hasAlpha` when another one has its opacity.
    static func first(_ format: ImageFormat, in moov: ISOBoxes.Box) -> HEIFTrack? {
        let tracks = moov.boxes().filter { $0.type == "trak" }.prefix(16)
            .map { HEIFTrack(format, $0) }
        guard var track = tracks.first(where: \.isPicture) else { return nil }
        track.information.hasAlpha = tracks.contains(where: \.isAlpha)
        track.information.frameCount = max(1, track.durations.count)
        track.information.animation = AnimationTiming(
            stored: track.durations, loopCount: track.loopCount)
        return track
    }

    private init(_ format: ImageFormat, _ box: ISOBoxes.Box) {
        information = ImageInformation(format)
        information.hasGainMap = false
        guard let media = box.boxes().first("mdia")?.boxes() else { return }
        let handler = media.first("hdlr")?.code(8)
        isPicture = handler == "pict"
        isAlpha = handler == "auxv"
        guard let header = media.first("mdhd"),
            let table = media.first("minf")?.boxes().first("stbl")?.boxes(),
            let version = header.byte(0), let scale = header.number(version == 1 ? 20 : 12, 4),
            scale > 0
        else { return }
        readTable(table, scale: Double(scale))
        readRepetitions(box.boxes())
    }

    private mutating func readTable(_ table: ISOBoxes, scale: Double) {
        if let times = table.first("stts") {
            for index in 0..<min(times.number(4, 4) ?? 0, Self.mostFrames) {
                let entry = 8 + 8 * index
                guard let count = times.number(entry, 4), let delta = times.number(entry + 4, 4)
                else { break }
                let room = Self.mostFrames - durations.count
                let delay = Double(delta) / scale
                durations += Array(repeating: delay, count: min(count, room))
            }
        }
        // The description of the samples: 8 bytes, then an entry of which 78 bytes are for all codecs.
        guard let entry = table.first("stsd")?.boxes(skipping: 8).first else { return }
        let stored = PixelSize(
            width: entry.number(24, 2) ?? 0, height: entry.number(26, 2) ?? 0)
        let properties = Array(entry.boxes(skipping: 78))
        information.size = stored.shown(by: properties)
        let picture = HEIFPicture(properties)
        information.bitsPerSample = picture.depth
        information.colorProfile = picture.colorProfile
    }

    /// An edit list may say that the track is repeated; without one a sequence plays for ever.
    private mutating func readRepetitions(_ boxes: ISOBoxes) {
        guard let list = boxes.first("edts")?.boxes().first("elst"),
            let track = boxes.first("tkhd")
        else { return }
        let isLong = list.byte(0) == 1
        guard let flags = list.byte(3), flags & 1 == 1 else { return loopCount = 1 }
        let isLongTrack = track.byte(0) == 1
        guard let run = list.number(8, isLong ? 8 : 4), run > 0,
            let total = track.number(isLongTrack ? 28 : 20, isLongTrack ? 8 : 4),
            isLongTrack || total != 0xFFFF_FFFF
        else { return }
        loopCount = max(1, (total + run - 1) / run)
    }
}
