package import Foundation
import Glibc

/// A path of the file system: bytes, which are a text in most cases only.
///
/// A file URL has them percent-encoded, and so carries any of them. The text of an argument has each byte that
/// is part of no UTF-8 as a character that nobody uses; see `String.init(escaping:)`.
package struct FilePath: Hashable, Sendable {
    /// Neither empty nor with a NUL in it.
    package let bytes: [UInt8]

    /// `nil` for what is no path.
    package init?(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard !bytes.isEmpty, !bytes.contains(0) else { return nil }
        self.bytes = bytes
    }

    /// The path that an argument names; `nil` for what is no path.
    package init?(argument text: String) {
        self.init(bytes: text.unescapedBytes)
    }

    /// The path of a file URL; `nil` for another one, and for one without a path.
    package init?(_ url: URL) {
        guard url.isFileURL else { return nil }
        let encoded = url.absoluteURL.path(percentEncoded: true)
        var bytes = PercentEncoding.lenientBytes(Substring(encoded).utf8)
        // A slash at the end says only that it is a folder.
        while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        self.init(bytes: bytes)
    }

    package var text: String? { String(validating: bytes, as: UTF8.self) }

    /// The path for people: bytes that are part of no text as `\xE9`.
    package var description: String {
        if let text { return text }
        return String(escaping: bytes).unicodeScalars.reduce(into: "") { text, scalar in
            if let byte = scalar.escapedByte {
                text += "\\x" + String(byte, radix: 16, uppercase: true)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }

    package var url: URL {
        if let text { return URL(fileURLWithPath: text) }
        let absolute = bytes.first == UInt8(ascii: "/") ? bytes : Self.workingDirectory + bytes
        // Percent-encoded bytes are a URL.
        return URL(string: "file://" + PercentEncoding.encode(absolute, keeping: "/"))
            ?? URL(fileURLWithPath: description)
    }

    private static var workingDirectory: [UInt8] {
        guard let path = getcwd(nil, 0) else { return [] }
        defer { free(path) }
        let bytes = UnsafeRawBufferPointer(start: path, count: strlen(path))
        return Array(bytes) + [UInt8(ascii: "/")]
    }

    package var name: String { Self(bytes: lastComponent)?.description ?? description }

    /// The part behind the last dot of the last component; empty without one.
    package var fileExtension: String {
        guard let dot = lastComponent.lastIndex(of: UInt8(ascii: ".")),
            dot > lastComponent.startIndex
        else { return "" }
        return String(decoding: lastComponent[(dot + 1)...], as: UTF8.self)
    }

    package func appending(_ component: some Sequence<UInt8>) -> FilePath {
        let separator = bytes.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]
        return FilePath(bytes: bytes + separator + component) ?? self
    }

    /// The folder that the last component is in, as far as the path names it.
    package var folder: FilePath {
        let rest = bytes[..<lastComponent.startIndex]
        return FilePath(bytes: rest.isEmpty ? [UInt8(ascii: ".")] : rest) ?? self
    }

    /// Empty for the root.
    package var lastComponent: ArraySlice<UInt8> {
        let end = bytes.lastIndex { $0 != UInt8(ascii: "/") }.map { $0 + 1 } ?? bytes.endIndex
        let start = bytes[..<end].lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        return bytes[start..<end]
    }
}

extension FilePath {
    /// Why nothing can be read at a path.
    package struct Failure: LocalizedError, CustomStringConvertible, Sendable {
        package let path: FilePath
        /// In the system's own words, if it has any.
        package let reason: String

        package let description: String

        fileprivate init(_ path: FilePath, _ code: Int32) {
            self.path = path
            reason = String(cString: strerror(code))
            description = "\(path.description) cannot be read: \(reason)"
        }

        fileprivate init(_ path: FilePath, is kind: String) {
            self.path = path
            reason = "it is \(kind), not a file"
            description = "\(path.description) is \(kind), not a file."
        }

        package var errorDescription: String? { description }
    }

    /// Runs `body` with the path as the system's functions take it.
    package func withCString<R>(_ body: (UnsafePointer<CChar>) throws -> R) rethrows -> R {
        try (bytes + [0]).withUnsafeBufferPointer { buffer in
            try buffer.withMemoryRebound(to: CChar.self) { try body($0.baseAddress!) }
        }
    }

    /// The status of the file at the path, or of a symbolic link unless `following`.
    package func status(following: Bool = true) throws(Failure) -> stat {
        var status = stat()
        let result = withCString { following ? stat($0, &status) : lstat($0, &status) }
        guard result == 0 else { throw Failure(self, errno) }
        return status
    }

    /// Says what is at the path, when reading it could wait or go on for ever: a FIFO, a socket, or a device, links
    /// followed. `nil` for a file, a folder, and what cannot be looked at.
    package var streamFailure: Failure? {
        guard let status = try? status() else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFIFO: return Failure(self, is: "a FIFO")
        case S_IFSOCK: return Failure(self, is: "a socket")
        case S_IFCHR, S_IFBLK: return Failure(self, is: "a device")
        default: return nil
        }
    }

    /// The bytes of the file, or the first `limit` of them; of a FIFO or a device only if `includingStreams`.
    package func read(
        atMost limit: Int = .max, includingStreams: Bool = false
    ) throws(Failure) -> Data {
        if !includingStreams, let failure = streamFailure { throw failure }
        let descriptor = withCString { open($0, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw Failure(self, errno) }
        defer { close(descriptor) }
        var data = Data()
        var piece = [UInt8](repeating: 0, count: 1 << 18)
        while data.count < limit {
            let count = Glibc.read(descriptor, &piece, min(piece.count, limit - data.count))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure(self, errno) }
            if count == 0 { break }
            do {
                try piece.withUnsafeBytes { bytes in
                    try data.append(
                        whileThereIsRoom: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                }
            } catch {
                throw Failure(self, ENOMEM)
            }
        }
        return data
    }

    /// The names in a folder, in the order of their bytes.
    fileprivate func entries() throws(Failure) -> [[UInt8]] {
        guard let folder = withCString({ opendir($0) }) else { throw Failure(self, errno) }
        defer { closedir(folder) }
        var names: [[UInt8]] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            if name != [UInt8(ascii: ".")], name != Array("..".utf8) { names.append(name) }
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }
    }
}

package struct FolderListing: Sendable {
    /// Each begins as the folder's path; in the order of their bytes, folder by folder.
    package private(set) var files: [FilePath] = []
    /// Folders that cannot be read, and links that lead nowhere.
    package private(set) var failures: [FilePath.Failure] = []
    /// Without `isRecursive`, the folders in it.
    package private(set) var folders: [FilePath] = []

    /// Lists regular files, with `includesLinks` also links to files. Hidden ones are passed over, links to
    /// folders are not followed, and nothing that cannot be read ends it.
    package init(below folder: FilePath, includesLinks: Bool, isRecursive: Bool = true) {
        var folders = [folder]
        while let folder = folders.popLast() {
            var below: [FilePath] = []
            do {
                for name in try folder.entries() where name.first != UInt8(ascii: ".") {
                    add(folder.appending(name), includesLinks, to: &below)
                }
            } catch {
                failures.append(error)
            }
            guard isRecursive else {
                self.folders = below
                return
            }
            folders += below.reversed()
        }
    }

    private mutating func add(
        _ path: FilePath, _ includesLinks: Bool, to folders: inout [FilePath]
    ) {
        do {
            let status = try path.status(following: false)
            switch status.st_mode & S_IFMT {
            case S_IFREG: files.append(path)
            case S_IFDIR: folders.append(path)
            case S_IFLNK:
                let target = try path.status()
                if includesLinks, target.st_mode & S_IFMT == S_IFREG { files.append(path) }
            default: break
            }
        } catch {
            failures.append(error)
        }
    }
}

extension String {
    /// A text for bytes that need not be UTF-8: each byte that is part of no character stands as one of the
    /// last 128 characters of Unicode, which nobody uses. Should they be used, their bytes stand so, too, so that
    /// `unescapedBytes` always gives back what it was made of.
    package init(escaping bytes: some Collection<UInt8>) {
        if let text = String(validating: bytes, as: UTF8.self), !text.isEscaped {
            self = text
            return
        }
        var text = String.UnicodeScalarView()
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let character = (1...4).lazy.compactMap {
                String(validating: rest.prefix($0), as: UTF8.self)
            }
            .first
            if let scalar = character?.unicodeScalars.first, scalar.escapedByte == nil {
                text.append(scalar)
                rest.removeFirst(UTF8.width(scalar))
            } else {
                // Only bytes from 0x80 on are part of no character.
                text.append(Unicode.Scalar(0x10FF00 + UInt32(rest.removeFirst()))!)
            }
        }
        self.init(text)
    }

    /// Whether bytes that are part of no character stand in this text.
    package var isEscaped: Bool { unicodeScalars.contains { $0.escapedByte != nil } }

    package var unescapedBytes: [UInt8] {
        guard isEscaped else { return Array(utf8) }
        return unicodeScalars.reduce(into: []) { bytes, scalar in
            if let byte = scalar.escapedByte {
                bytes.append(byte)
            } else {
                bytes += UTF8.encode(scalar)!
            }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var escapedByte: UInt8? {
        value >= 0x10FF80 ? UInt8(value - 0x10FF00) : nil
    }
}

/// The arguments of this process, from the first one after its name.
package enum ProcessArguments {
    /// With bytes that are no text as `String.init(escaping:)` has them.
    package static var texts: [String] {
        UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
            .dropFirst().compactMap { $0 }
            .map { String(escaping: UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }
}
