import DirectCodecs
import Foundation

/// The name that an ICC profile gives itself (ICC.1, 9.2.41).
enum ProfileName {
    /// Longer names are cut.
    private static let longest = 80

    /// The name of a profile, behind which there may be more; `nil` when it has none, or not where it should.
    static func of(_ profile: UnsafeRawBufferPointer) -> String? {
        guard let count = profile.bigEndian(128, 4) else { return nil }
        let entries = (0..<min(count, 100)).lazy.map { 132 + 12 * $0 }
        return entries.first { profile.hasText("desc", at: $0) }
            .flatMap { profile.bigEndian($0 + 4, 4) }.flatMap { text(profile, $0) }
    }

    /// A text in ASCII (version 2 of the format), or the first of several languages (version 4).
    private static func text(_ bytes: UnsafeRawBufferPointer, _ tag: Int) -> String? {
        if bytes.hasText("desc", at: tag), let length = bytes.bigEndian(tag + 8, 4),
            let text = bytes.slice(tag + 12, count: min(length, longest))
        {
            return printable(text.prefix { $0 != 0 })
        }
        guard bytes.hasText("mluc", at: tag), let length = bytes.bigEndian(tag + 20, 4),
            let offset = bytes.bigEndian(tag + 24, 4),
            let text = bytes.slice(tag + offset, count: min(length, 2 * longest) & ~1)
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
    /// Whether `text` stands somewhere in the bytes.
    func containsText(_ text: String) -> Bool { !places(of: Array(text.utf8), atMost: 1).isEmpty }
}
