/// A setting of the file of defaults.
struct ConfigurationEntry: Equatable {
    enum Value: Equatable {
        case text(String)
        /// As it is written, without underscores.
        case number(String)
        case truth(Bool)
        case texts([String])
    }

    /// The names of its table; none for the beginning of the file.
    let table: [String]
    let key: String
    let value: Value
    let line: Int
}

/// Something wrong in the file of defaults.
struct ConfigurationFault: Error, Equatable {
    /// `nil` for the file as a whole.
    var line: Int?
    let message: String
}

/// Reads a strict part of TOML 1.0: tables, texts, decimal numbers, truths and arrays of texts.
///
/// That much is smaller and sooner compiled than a library for all of it; the rest is refused by name.
struct ConfigurationReader {
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var line = 1

    private init(_ text: String) { scalars = Array(text.unicodeScalars) }

    static func entries(in text: String) throws(ConfigurationFault) -> [ConfigurationEntry] {
        var reader = ConfigurationReader(text)
        var entries: [ConfigurationEntry] = []
        var tables: Set<[String]> = []
        var table: [String] = []
        reader.skip(lines: true)
        while reader.next != nil {
            let line = reader.line
            if reader.take("[") {
                table = try reader.tableName()
                guard tables.insert(table).inserted else {
                    throw reader.fault("[\(table.joined(separator: "."))] is there twice")
                }
            } else {
                let key = try reader.key()
                guard reader.take("=") else { throw reader.fault("“\(key)” needs = and a value") }
                reader.skip()
                let entry = ConfigurationEntry(
                    table: table, key: key, value: try reader.value(), line: line)
                if entries.contains(where: { $0.table == table && $0.key == key }) {
                    throw ConfigurationFault(line: line, message: "“\(key)” is there twice")
                }
                entries.append(entry)
            }
            reader.skip()
            if let next = reader.next, next != "\n" {
                throw reader.fault("the line goes on behind its end with “\(next)”")
            }
            reader.skip(lines: true)
        }
        return entries
    }

    private var next: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    private func fault(_ message: String) -> ConfigurationFault {
        ConfigurationFault(line: line, message: message)
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        index += 1
        return true
    }

    /// Skips spaces and a comment, and with `lines` the ends of lines, too.
    private mutating func skip(lines: Bool = false) {
        while let scalar = next {
            switch scalar {
            case " ", "\t", "\r", "\u{FEFF}": index += 1
            case "#": while let other = next, other != "\n" { index += 1 }
            case "\n" where lines:
                index += 1
                line += 1
            default: return
            }
        }
    }

    private mutating func taking(while isWanted: (Unicode.Scalar) -> Bool) -> String {
        let start = index
        while let scalar = next, isWanted(scalar) { index += 1 }
        return String(String.UnicodeScalarView(scalars[start..<index]))
    }

    private mutating func key() throws(ConfigurationFault) -> String {
        skip()
        let key = taking {
            $0.isASCII && ($0.properties.isAlphabetic || "0123456789-_".unicodeScalars.contains($0))
        }
        if key.isEmpty { throw fault("here is neither the name of an option nor a [table]") }
        skip()
        return key
    }

    private mutating func tableName() throws(ConfigurationFault) -> [String] {
        if next == "[" { throw fault("arrays of tables ([[…]]) are not used") }
        var names = [try key()]
        while take(".") { names.append(try key()) }
        guard take("]") else { throw fault("the name of a table ends with ]") }
        return names
    }

    private mutating func value() throws(ConfigurationFault) -> ConfigurationEntry.Value {
        if next == "\"" || next == "'" { return .text(try text()) }
        if take("[") { return .texts(try texts()) }
        let word = taking { !" \t\r\n,]#".unicodeScalars.contains($0) }
        switch word {
        case "true": return .truth(true)
        case "false": return .truth(false)
        default:
            let number = /[+\-]?(0|[1-9](_?[0-9])*)(\.[0-9](_?[0-9])*)?([eE][+\-]?[0-9]+)?/
            guard word.wholeMatch(of: number) != nil else {
                throw fault(
                    "“\(word)” is no text in quotes, no number, no array of texts, and not true or false"
                )
            }
            return .number(word.filter { $0 != "_" && $0 != "+" })
        }
    }

    private mutating func texts() throws(ConfigurationFault) -> [String] {
        var texts: [String] = []
        while true {
            skip(lines: true)
            if take("]") { return texts }
            guard next == "\"" || next == "'" else { throw fault("an array holds texts in quotes") }
            texts.append(try text())
            skip(lines: true)
            if !take(","), next != "]" { throw fault("the array has no end") }
        }
    }

    private mutating func text() throws(ConfigurationFault) -> String {
        let quote = scalars[index]
        index += 1
        var text = String.UnicodeScalarView()
        while let scalar = next, scalar != "\n" {
            index += 1
            if scalar == quote {
                if text.isEmpty, next == quote {
                    throw fault("texts of several lines are not used")
                }
                return String(text)
            }
            text.append(scalar == "\\" && quote == "\"" ? try escaped() : scalar)
        }
        throw fault("the text has no end")
    }

    private mutating func escaped() throws(ConfigurationFault) -> Unicode.Scalar {
        let simple: [Unicode.Scalar: Unicode.Scalar] = [
            "b": "\u{8}", "t": "\t", "n": "\n", "f": "\u{C}", "r": "\r", "\"": "\"", "\\": "\\",
        ]
        guard let letter = next else { throw fault("the text has no end") }
        index += 1
        if let scalar = simple[letter] { return scalar }
        let count = letter == "u" ? 4 : letter == "U" ? 8 : 0
        let digits = String(String.UnicodeScalarView(scalars[index...].prefix(count)))
        guard count > 0, digits.allSatisfy(\.isHexDigit),
            let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init)
        else { throw fault("“\\\(letter)” is unknown; a backslash is written \\\\, or in '…'") }
        index += count
        return scalar
    }
}
