import DirectCodecs
import Foundation

/// The name that an ICC profile gives itself (ICC.1, 9.2.41).
enum ProfileName {
    /// Longer names are cut.
    private static let longest = 80

    /// The name of the profile that begins at `start`; `nil` when it has none, or not where it should.
    static func of(_ reader: ByteReader, from start: Int) -> String? {
        guard let count = reader.bigUInt32(start + 128) else { return nil }
        for index in 0..<min(Int(count), 100) {
            let entry = start + 132 + 12 * index
            guard let name = reader.slice(entry, count: 4) else { return nil }
            guard name.hasPrefix("desc"), let offset = reader.bigUInt32(entry + 4) else { continue }
            return text(reader, start + Int(offset))
        }
        return nil
    }

    /// A text in ASCII (version 2 of the format), or the first of several languages (version 4).
    private static func text(_ reader: ByteReader, _ tag: Int) -> String? {
        guard let kind = reader.slice(tag, count: 4) else { return nil }
        if kind.hasPrefix("desc"), let length = reader.bigUInt32(tag + 8),
            let text = reader.slice(tag + 12, count: min(Int(length), longest))
        {
            return printable(text.prefix { $0 != 0 })
        }
        guard kind.hasPrefix("mluc"), let length = reader.bigUInt32(tag + 20),
            let offset = reader.bigUInt32(tag + 24),
            let text = reader.slice(tag + Int(offset), count: min(Int(length), 2 * longest) & ~1)
        else { return nil }
        let units = stride(from: 0, to: text.count, by: 2).map {
            UInt16(text[$0]) << 8 | UInt16(text[$0 + 1])
        }
        return printable(String(decoding: units, as: UTF16.self).utf8)
    }

    /// Text without control characters and spaces around it; `nil` when nothing is left.
    static func printable(_ bytes: some Sequence<UInt8>) -> String? {
        let text = String(decoding: Array(bytes), as: UTF8.self)
        let scalars = text.unicodeScalars.filter { !CharacterSet.controlCharacters.contains($0) }
        let trimmed = String(String.UnicodeScalarView(scalars))
            .trimmingCharacters(in: .whitespaces)
        return trimmed.isEmpty ? nil : trimmed
    }
}

extension UnsafeRawBufferPointer {
    func hasPrefix(_ text: String) -> Bool { starts(with: text.utf8) }

    /// Whether `text` stands somewhere in the bytes.
    func containsText(_ text: String) -> Bool { !places(of: Array(text.utf8), atMost: 1).isEmpty }
}

extension ByteReader {
    func littleUInt24(_ offset: Int) -> Int? {
        guard let low = littleUInt16(offset), let high = byte(offset + 2) else { return nil }
        return Int(high) << 16 | low
    }
}
