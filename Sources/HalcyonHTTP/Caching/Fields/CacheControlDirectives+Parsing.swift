extension CacheControlDirectives {
    /// The directives of a message: those of its `Cache-Control` lines; without any such line
    /// those of `Pragma`, of which only `no-cache` means something (RFC 9111, section 5.4).
    ///
    /// In a response `Pragma: no-cache` is undefined by the RFC. Who sends it means it.
    package init(of fields: HTTPFields) {
        let lines = fields.values("Cache-Control")
        if !lines.isEmpty {
            self.init(parsing: lines)
            return
        }
        self.init()
        if CacheControlDirectives(parsing: fields.values("Pragma")).noCache {
            note("no-cache", .none)
        }
    }

    /// Reads `#( token [ "=" ( token / quoted-string ) ] )`, RFC 9111, section 5.2.
    ///
    /// A member of another form (`max-age =3`, `public; max-age=3`) leaves its first token as a
    /// directive with an invalid argument.
    package init(parsing lines: [String]) {
        self.init()
        var reader = FieldReader(lines.joined(separator: ","))
        while !reader.isAtEnd {
            reader.skipSpaces()
            if reader.take(.comma) { continue }
            readMember(&reader)
        }
    }

    private mutating func readMember(_ reader: inout FieldReader) {
        let name = reader.token()?.lowercasedASCII
        var argument = Argument.none
        if name != nil, reader.take(.equals) {
            argument = readArgument(&reader)
        }
        reader.skipSpaces()
        if !reader.isAtEnd, reader.next != .comma {
            argument = .invalid
            if !reader.skipMember() { isUnterminated = true }
        }
        if let name { note(name, argument) }
    }

    private mutating func readArgument(_ reader: inout FieldReader) -> Argument {
        if reader.next == .quote {
            if let text = reader.quotedString() { return .text(text) }
            isUnterminated = true
            return .invalid
        }
        return reader.token().map(Argument.text) ?? .invalid
    }
}
