import ArgumentParser
import Foundation
import Halcyon
import HalcyonWork
import Synchronization

/// The name of an image's file: bytes, which are text in most cases only.
struct FileName: Equatable, Sendable {
    let stem: [UInt8]
    /// As it is written, if it is one of images; any other is a part of the stem.
    let fileExtension: String

    init(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        let dot = bytes.lastIndex(of: UInt8(ascii: ".")) ?? 0
        let rest = String(decoding: bytes[dot...].dropFirst(), as: UTF8.self)
        let isOfImage = dot > 0 && ImageFormat(fileExtension: rest) != nil
        stem = isOfImage ? Array(bytes[..<dot]) : bytes
        fileExtension = isOfImage ? rest : ""
    }

    /// The name that a server's text makes: without what no name of a file holds, and not hidden.
    init(safe text: String) {
        let name = String.UnicodeScalarView(
            text.unicodeScalars.map {
                $0 == "/" || $0.properties.generalCategory == .control ? "-" : $0
            })
        let trimmed = name.drop { $0 == "." || $0 == "-" }
        self.init((trimmed.isEmpty ? "image" : String(trimmed)).utf8)
    }

    /// The extension of the file in `format`: its own if it is one of that.
    ///
    /// - Parameter format: `nil` for that of the source, which its extension tells if anything does.
    func fileExtension(in format: ImageFormat?) -> String {
        let own = ImageFormat(fileExtension: fileExtension)
        guard let format = format ?? own?.orWritable else { return "" }
        return format == own ? fileExtension : format.fileExtension
    }
}

/// A template for the names of files, in which `{name}` and `{ext}` stand for those of a source.
struct NameTemplate: Sendable {
    private enum Part: Equatable, Sendable {
        case text([UInt8])
        case name
        case fileExtension
    }

    private let parts: [Part]

    private static let words: [String: Part] = ["{name}": .name, "{ext}": .fileExtension]

    static let plain = NameTemplate(parts: [.name, .text([UInt8(ascii: ".")]), .fileExtension])

    private init(parts: [Part]) { self.parts = parts }

    init(_ text: String) throws(ValidationError) {
        var parts: [Part] = []
        var rest = text.unescapedBytes[...]
        while let open = rest.firstIndex(of: UInt8(ascii: "{")) {
            let end = rest[open...].firstIndex(of: UInt8(ascii: "}")) ?? rest.endIndex - 1
            let word = String(decoding: rest[open...end], as: UTF8.self)
            guard let part = Self.words[word] else {
                throw ValidationError("--name: “\(word)” is unknown; there are {name} and {ext}.")
            }
            parts += [.text(Array(rest[..<open])), part]
            rest = rest[(end + 1)...]
        }
        self.parts = parts + [.text(Array(rest))]
        if !parts.contains(.name) { throw ValidationError("--name needs {name} in it.") }
        if text.utf8.contains(UInt8(ascii: "/")) {
            throw ValidationError("--name is the name of a file, without a folder.")
        }
    }

    /// The name of at most 255 bytes, which file systems allow.
    func name(_ stem: [UInt8], _ suffix: String, _ fileExtension: String) -> [UInt8] {
        func fill(_ stem: some Sequence<UInt8>) -> [UInt8] {
            parts.flatMap { part in
                switch part {
                case .text(let text): text
                case .name: Array(stem) + suffix.utf8
                case .fileExtension: Array(fileExtension.utf8)
                }
            }
        }
        var stem = stem[...]
        var name = fill(stem)
        while name.count > 255, !stem.isEmpty {
            // Whole characters, of which all bytes but the first are 10xxxxxx.
            while let byte = stem.popLast(), byte & 0xC0 == 0x80 {}
            name = fill(stem)
        }
        return name
    }
}

/// Gives the image of each source a path of its own in one folder.
///
/// Sources that are found in a folder keep theirs below it, and files of one name that are in different folders keep
/// those below the one that all of these have in common. Other equal names are numbered.
final class OutputNames: Sendable {
    private struct Wish {
        /// Empty, or with a slash at its end.
        var folder: [UInt8]
        let name: FileName
        /// Makes the path unique.
        var suffix = ""
        /// Makes it unique in a format that the name does not tell.
        var suffixes: [ImageFormat: String] = [:]

        func path(_ template: NameTemplate, in format: ImageFormat?, _ more: String = "") -> [UInt8]
        {
            let fileExtension = name.fileExtension(in: format)
            return folder + template.name(name.stem, suffix + more, fileExtension)
        }
    }

    private let template: NameTemplate
    private let format: ImageFormat?
    private let state = Mutex((wishes: [Wish](), taken: Set<[UInt8]>()))

    /// - Parameter format: The format of all files; `nil` for that of each source.
    init(of arguments: [ImageArgument], _ template: NameTemplate, format: ImageFormat?) {
        var wishes = arguments.map { Wish(folder: $0.folder, name: $0.name) }
        let files = arguments.indices.filter { arguments[$0].file != nil }
        let groups = Dictionary(grouping: files) { wishes[$0].path(template, in: format) }
        for equal in groups.values {
            let folders = equal.map { Array(arguments[$0].file?.components.dropLast() ?? []) }
            if Set(folders).count == 1 { continue }
            let common = folders.reduce(folders[0]) { common, other in
                zip(common, other).prefix { $0 == $1 }.map { $0.0 }
            }
            for (index, folder) in zip(equal, folders) {
                wishes[index].folder = folder[common.count...].flatMap { $0 + [UInt8(ascii: "/")] }
            }
        }
        self.template = template
        self.format = format
        for wish in wishes { _ = add(wish) }
    }

    /// Gives a file that was found in a folder a path, too; returns its index.
    func add(_ argument: ImageArgument) -> Int {
        add(Wish(folder: argument.folder, name: argument.name))
    }

    private func add(_ wish: Wish) -> Int {
        state.withLock { state in
            var wish = wish
            wish.suffix = Self.claim(in: &state.taken) { wish.path(template, in: format, $0) }
            state.wishes.append(wish)
            return state.wishes.count - 1
        }
    }

    /// The path below the folder for the source at `index`; to be asked for once that its format is known.
    func path(for index: Int, in format: ImageFormat) -> [UInt8] {
        state.withLock { state in
            let wish = state.wishes[index]
            let path = wish.path(template, in: format)
            // Only a source whose name does not tell its format gets another path than was expected.
            if path == wish.path(template, in: self.format) { return path }
            let more =
                wish.suffixes[format]
                ?? Self.claim(in: &state.taken) { wish.path(template, in: format, $0) }
            state.wishes[index].suffixes[format] = more
            return wish.path(template, in: format, more)
        }
    }

    /// Returns the suffix with which a path is free, and takes it.
    private static func claim(
        in taken: inout Set<[UInt8]>, _ path: (_ suffix: String) -> [UInt8]
    ) -> String {
        var suffix = ""
        var number = 1
        while !taken.insert(path(suffix)).inserted {
            number += 1
            suffix = "-\(number)"
        }
        return suffix
    }
}

extension FilePath {
    /// The names that lead to the file from the root, without `.` and `..`.
    var components: [[UInt8]] {
        let names = (FilePath(url) ?? self).bytes.split(separator: UInt8(ascii: "/"))
        return names.reduce(into: []) { components, name in
            switch String(decoding: name, as: UTF8.self) {
            case ".": break
            case "..": _ = components.popLast()
            default: components.append(Array(name))
            }
        }
    }

    /// The components of the path that symbolic links lead to; those that are not there are as they are written.
    var realComponents: [[UInt8]] {
        if let real = followingLinks { return real.components }
        guard folder != self else { return components }
        switch String(decoding: lastComponent, as: UTF8.self) {
        case ".": return folder.realComponents
        case "..": return folder.realComponents.dropLast()
        default: return folder.realComponents + [Array(lastComponent)]
        }
    }

    /// The path that symbolic links lead to; `nil` where nothing is.
    var followingLinks: FilePath? {
        guard let path = withCString({ realpath($0, nil) }) else { return nil }
        defer { free(path) }
        return FilePath(bytes: UnsafeRawBufferPointer(start: path, count: strlen(path)))
    }
}
