import DirectCodecs
import Foundation

extension ImageInformation {
    /// Reads the boxes of AVIF and HEIC: the primary picture, or the track of a sequence.
    static func ofHEIF(_ file: FilePart, _ format: ImageFormat) -> ImageInformation? {
        let brand = ISOMediaBrands(file.bytes)?.brands.first ?? ""
        if HEIFProperties.sequenceBrands.contains(brand) {
            guard let box = whole("moov", in: file) else { return nil }
            return HEIFTrack.first(format, in: box.content, of: file.reader)?.information
        }
        guard let meta = whole("meta", in: file) else { return nil }
        let items = HEIFItems(meta.content, file.reader)
        return items.information(format, in: file)
    }

    /// The number of times the sequence in a whole file plays; 0 means forever.
    static func loopCount(ofHEIF data: Data) -> Int {
        data.withUnsafeBytes { bytes in
            let file = FilePart(bytes: bytes, isWhole: true)
            return whole("moov", in: file)
                .flatMap { HEIFTrack.first(.AVIF, in: $0.content, of: file.reader) }?.loopCount ?? 0
        }
    }

    /// A box at the top of the file, once all of it is there.
    private static func whole(_ type: String, in file: FilePart) -> ISOBoxes.Box? {
        guard let box = ISOBoxes(file.reader).first(type),
            file.isWhole || box.content.upperBound <= file.bytes.count
        else { return nil }
        return box
    }
}

/// The items of a HEIF file and what is said of them (ISO/IEC 23008-12, ISO/IEC 14496-12, 8.11).
struct HEIFItems {
    private let reader: ByteReader
    private var primary = 0
    private var types: [Int: String] = [:]
    /// The properties of each item, in the order in which they are to be applied.
    private var properties: [Int: [ISOBoxes.Box]] = [:]
    /// Items that are auxiliary to others.
    private var auxiliary: [(from: Int, to: [Int])] = []
    /// The first of the items that an item is made of.
    private var parts: [Int: Int] = [:]
    private var locations: ISOBoxes.Box?

    /// More items, and more properties of one, are not looked at.
    private static let most = 4096

    init(_ meta: Range<Int>, _ reader: ByteReader) {
        self.reader = reader
        for box in ISOBoxes(reader, meta, skipping: 4) {
            let start = box.content.lowerBound
            switch box.type {
            case "pitm": primary = number(box, version: start, at: 4) ?? 0
            case "iinf": readTypes(box)
            case "iref": readReferences(box)
            case "iprp": readProperties(box)
            case "iloc": locations = box
            default: break
            }
        }
    }

    /// A number of 2 bytes, or of 4 from version 1 on.
    private func number(_ box: ISOBoxes.Box, version: Int, at offset: Int) -> Int? {
        reader.bigNumber(box.content.lowerBound + offset, reader.byte(version) == 0 ? 2 : 4)
    }

    private mutating func readTypes(_ box: ISOBoxes.Box) {
        let head = reader.byte(box.content.lowerBound) == 0 ? 6 : 8
        for entry in ISOBoxes(reader, box.content, skipping: head).prefix(Self.most)
        where entry.type == "infe" {
            let start = entry.content.lowerBound
            guard let version = reader.byte(start), version >= 2 else { continue }
            let length = version == 2 ? 2 : 4
            guard let item = reader.bigNumber(start + 4, length),
                let type = reader.slice(start + 6 + length, count: 4)
            else { continue }
            types[item] = String(decoding: type, as: UTF8.self)
        }
    }

    private mutating func readReferences(_ box: ISOBoxes.Box) {
        for reference in HEIFReference.all(in: box, reader) {
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
        var picture = HEIFPicture()
        var item = primary
        // Files are not nested deeply, and may be in circles.
        for _ in 0..<8 {
            picture.type = types[item]
            for box in properties[item] ?? [] { picture.take(box, reader) }
            guard let part = parts[item], ["grid", "iovl", "iden"].contains(types[item]) else {
                break
            }
            item = part
        }
        return picture
    }

    private mutating func readProperties(_ box: ISOBoxes.Box) {
        guard let container = ISOBoxes(reader, box.content).first("ipco") else { return }
        let all = Array(ISOBoxes(reader, container.content).prefix(Self.most))
        for table in ISOBoxes(reader, box.content) where table.type == "ipma" {
            let start = table.content.lowerBound
            guard let version = reader.byte(start), let flags = reader.byte(start + 3),
                let count = reader.bigUInt32(start + 4)
            else { continue }
            let end = min(table.content.upperBound, reader.count)
            var offset = start + 8
            for _ in 0..<min(Int(count), Self.most) {
                let length = version == 0 ? 2 : 4
                guard let item = reader.bigNumber(offset, length),
                    let entries = reader.byte(offset + length)
                else { break }
                offset += length + 1
                let size = flags & 1 == 1 ? 2 : 1
                guard offset + Int(entries) * size <= end else { break }
                let indices = (0..<Int(entries)).compactMap { index -> Int? in
                    let place = offset + index * size
                    // The uppermost bit says whether the property must be understood.
                    return size == 2
                        ? reader.bigUInt16(place).map { $0 & 0x7FFF }
                        : reader.byte(place).map { Int($0 & 0x7F) }
                }
                offset += Int(entries) * size
                properties[item] = indices.compactMap {
                    $0 > 0 && $0 <= all.count ? all[$0 - 1] : nil
                }
            }
        }
    }

    func information(_ format: ImageFormat, in file: FilePart) -> ImageInformation? {
        guard let own = properties[primary], let size = shownSize(own) else { return nil }
        var information = ImageInformation(format, size: size)
        for box in own {
            if box.type == "pixi" {
                information.bitsPerSample = reader.byte(box.content.lowerBound + 5).map(Int.init)
            }
            information.take(box, reader)
        }
        if information.colorProfile == nil, let codes = primaryPicture.colours {
            information.colorProfile = .coded(primaries: codes.primaries, transfer: codes.transfer)
        }
        information.frameCount = 1
        let auxiliaries = auxiliary.filter { $0.to.contains(primary) }.map { names(of: $0.from) }
        information.hasAlpha = auxiliaries.contains { name in
            name.contains("auxiliary:alpha") || name == "urn:mpeg:hevc:2015:auxid:1"
        }
        information.hasGainMap =
            types.values.contains("tmap") || auxiliaries.contains { $0.contains("hdrgainmap") }
        if let place = exif(in: file) {
            information.camera = place.isEmpty ? nil : camera(place)
        } else {
            information.isComplete = false
        }
        return information
    }

    private func shownSize(_ own: [ISOBoxes.Box]) -> PixelSize? {
        guard let place = own.first(where: { $0.type == "ispe" })?.content.lowerBound,
            let width = reader.bigUInt32(place + 4), let height = reader.bigUInt32(place + 8)
        else { return nil }
        return PixelSize(width: Int(width), height: Int(height)).shown(by: own, reader)
    }

    /// The type of an auxiliary picture, from its `auxC` box; empty if it has none.
    private func names(of item: Int) -> String {
        guard let box = properties[item]?.first(where: { $0.type == "auxC" }),
            let text = reader.slice(
                box.content.lowerBound + 4, count: min(box.content.count - 4, 64))
        else { return "" }
        return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// Where EXIF data is: nowhere when there is none, `nil` when it has not come yet.
    private func exif(in file: FilePart) -> Range<Int>? {
        guard let item = types.filter({ $0.value == "Exif" }).keys.min(), let locations,
            let place = place(of: item, in: locations)
        else { return 0..<0 }
        if reader.slice(place.lowerBound, count: place.count) != nil { return place }
        return nil
    }

    /// Four bytes tell where behind them the block begins.
    private func camera(_ place: Range<Int>) -> ImageInformation.Camera? {
        guard let offset = reader.bigUInt32(place.lowerBound) else { return nil }
        let start = place.lowerBound + 4 + Int(offset)
        guard start < place.upperBound,
            let block = reader.slice(start, count: place.upperBound - start)
        else { return nil }
        return ImageInformation.Camera(exif: block)
    }
}

extension HEIFItems {
    /// The first piece of an item that lies in the file itself, by the box of locations (ISO/IEC 14496-12,
    /// 8.11.3).
    private func place(of item: Int, in box: ISOBoxes.Box) -> Range<Int>? {
        let start = box.content.lowerBound
        guard let version = reader.byte(start), version <= 2,
            let sizes = reader.bigUInt16(start + 4)
        else { return nil }
        let (offsetSize, lengthSize) = (sizes >> 12, sizes >> 8 & 15)
        let (baseSize, indexSize) = (sizes >> 4 & 15, version > 0 ? sizes & 15 : 0)
        let idSize = version < 2 ? 2 : 4
        guard let count = reader.bigNumber(start + 6, idSize) else { return nil }
        var offset = start + 6 + idSize
        for _ in 0..<min(count, 4096) {
            guard let id = reader.bigNumber(offset, idSize) else { return nil }
            offset += idSize
            var method = 0
            if version > 0 {
                method = (reader.bigUInt16(offset) ?? 0) & 15
                offset += 2
            }
            offset += 2
            guard let base = reader.bigNumber(offset, baseSize),
                let pieces = reader.bigUInt16(offset + baseSize)
            else { return nil }
            offset += baseSize + 2
            if id == item {
                guard method == 0, pieces == 1,
                    let place = reader.bigNumber(offset + indexSize, offsetSize),
                    let length = reader.bigNumber(offset + indexSize + offsetSize, lengthSize)
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
    fileprivate func shown(by properties: [ISOBoxes.Box], _ reader: ByteReader) -> PixelSize {
        func start(_ type: String) -> Int? {
            properties.first { $0.type == type }?.content.lowerBound
        }
        let shown = start("clap").flatMap { PixelSize(cleanAperture: $0, reader) } ?? self
        let quarters = start("irot").flatMap(reader.byte) ?? 0
        return quarters & 1 == 1 ? shown.transposed : shown
    }

    /// The size of a clean aperture (ISO/IEC 14496-12, 12.1.4), two quotients.
    private init?(cleanAperture offset: Int, _ reader: ByteReader) {
        let sides = [offset, offset + 8].compactMap { place -> Int? in
            guard let over = reader.bigUInt32(place), let under = reader.bigUInt32(place + 4),
                under > 0
            else { return nil }
            return Int(over / under)
        }
        guard sides.count == 2 else { return nil }
        self.init(width: sides[0], height: sides[1])
    }
}

extension ImageInformation {
    /// The depth in the configuration of a codec, where nothing else tells it, or the colours: a profile counts
    /// more than numbers.
    fileprivate mutating func take(_ property: ISOBoxes.Box, _ reader: ByteReader) {
        let start = property.content.lowerBound
        switch (property.type, HEIFColours(property, reader)) {
        case ("av1C", _) where bitsPerSample == nil:
            bitsPerSample = reader.byte(start + 2).map {
                $0 & 0x40 == 0 ? 8 : $0 & 0x20 == 0 ? 10 : 12
            }
        case ("hvcC", _) where bitsPerSample == nil:
            bitsPerSample = reader.byte(start + 17).map { Int($0 & 7) + 8 }
        case ("colr", .coded(let primaries, let transfer)?) where colorProfile == nil:
            colorProfile = .coded(primaries: primaries, transfer: transfer)
        case ("colr", .profile(let start)?):
            colorProfile = .icc(name: ProfileName.of(reader, from: start))
        default: break
        }
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
    static func first(
        _ format: ImageFormat, in moov: Range<Int>, of reader: ByteReader
    ) -> HEIFTrack? {
        let tracks = ISOBoxes(reader, moov).filter { $0.type == "trak" }.prefix(16)
            .map { HEIFTrack(format, $0.content, reader) }
        guard var track = tracks.first(where: \.isPicture) else { return nil }
        track.information.hasAlpha = tracks.contains(where: \.isAlpha)
        track.information.frameCount = max(1, track.durations.count)
        track.information.animation = AnimationTiming(
            stored: track.durations, loopCount: track.loopCount)
        return track
    }

    private init(_ format: ImageFormat, _ range: Range<Int>, _ reader: ByteReader) {
        information = ImageInformation(format)
        information.hasGainMap = false
        let boxes = ISOBoxes(reader, range)
        guard let media = boxes.first("mdia") else { return }
        let parts = ISOBoxes(reader, media.content)
        if let handler = parts.first("hdlr"),
            let type = reader.slice(handler.content.lowerBound + 8, count: 4)
        {
            isPicture = type.hasPrefix("pict")
            isAlpha = type.hasPrefix("auxv")
        }
        guard let header = parts.first("mdhd"), let info = parts.first("minf"),
            let table = ISOBoxes(reader, info.content).first("stbl"),
            let version = reader.byte(header.content.lowerBound),
            let scale = reader.bigUInt32(header.content.lowerBound + (version == 1 ? 20 : 12)),
            scale > 0
        else { return }
        readTable(ISOBoxes(reader, table.content), scale: Double(scale), reader)
        readRepetitions(boxes, reader)
    }

    private mutating func readTable(_ table: ISOBoxes, scale: Double, _ reader: ByteReader) {
        if let times = table.first("stts")?.content.lowerBound {
            for index in 0..<min(reader.bigNumber(times + 4, 4) ?? 0, Self.mostFrames) {
                let entry = times + 8 + 8 * index
                guard let count = reader.bigUInt32(entry), let delta = reader.bigUInt32(entry + 4)
                else { break }
                let room = Self.mostFrames - durations.count
                let delay = Double(delta) / scale
                durations += Array(repeating: delay, count: min(Int(count), room))
            }
        }
        // The description of the samples: 8 bytes, then an entry of which 78 bytes are for all codecs.
        guard let entries = table.first("stsd")?.content,
            let entry = ISOBoxes(reader, entries, skipping: 8).first
        else { return }
        let start = entry.content.lowerBound
        let stored = PixelSize(
            width: reader.bigUInt16(start + 24) ?? 0, height: reader.bigUInt16(start + 26) ?? 0)
        let properties = Array(ISOBoxes(reader, entry.content, skipping: 78))
        information.size = stored.shown(by: properties, reader)
        for box in properties { information.take(box, reader) }
    }

    /// An edit list may say that the track is repeated; without one a sequence plays for ever.
    private mutating func readRepetitions(_ boxes: ISOBoxes, _ reader: ByteReader) {
        guard let edits = boxes.first("edts"),
            let list = ISOBoxes(reader, edits.content).first("elst"),
            let track = boxes.first("tkhd")?.content.lowerBound
        else { return }
        let start = list.content.lowerBound
        let isLong = reader.byte(start) == 1
        guard let flags = reader.byte(start + 3), flags & 1 == 1 else { return loopCount = 1 }
        let isLongTrack = reader.byte(track) == 1
        guard let run = reader.bigNumber(start + 8, isLong ? 8 : 4), run > 0,
            let total = reader.bigNumber(track + (isLongTrack ? 28 : 20), isLongTrack ? 8 : 4),
            isLongTrack || total != 0xFFFF_FFFF
        else { return }
        loopCount = max(1, (total + run - 1) / run)
    }
}
