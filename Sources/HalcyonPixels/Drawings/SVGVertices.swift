/// How many vertices paths and polygons have: there is a marker for each.
enum SVGVertices {
    /// Of the value of `d` or `points`; rather too many than too few.
    static func count(in value: String) -> Int {
        var vertices = 0
        var numbers = 0
        // Points are numbers only.
        var command = UInt8(ascii: "L")
        var isNumber = false
        var hasPoint = false
        var previous: UInt8 = 0

        func ended() -> Int { (numbers + fewestNumbers(command) - 1) / fewestNumbers(command) }

        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                if !isNumber { (numbers, hasPoint) = (numbers + 1, false) }
                isNumber = true
            case UInt8(ascii: "."):
                // ".5.5" are two.
                if !isNumber || hasPoint { numbers += 1 }
                (isNumber, hasPoint) = (true, true)
            case UInt8(ascii: "-"), UInt8(ascii: "+"):
                let isExponent = previous | 0x20 == UInt8(ascii: "e")
                if !isExponent { isNumber = false }
            case UInt8(ascii: "e"), UInt8(ascii: "E"): break
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
                vertices += ended()
                (command, numbers, isNumber) = (byte, 0, false)
                if byte | 0x20 == UInt8(ascii: "z") { vertices += 1 }
            default: isNumber = false
            }
            previous = byte
        }
        return vertices + ended()
    }

    /// Numbers that a vertex has at least, after a letter.
    private static func fewestNumbers(_ command: UInt8) -> Int {
        switch command | 0x20 {
        case UInt8(ascii: "c"): 6
        case UInt8(ascii: "q"), UInt8(ascii: "s"): 4
        // Two of the seven need no space behind them.
        case UInt8(ascii: "a"): 5
        case UInt8(ascii: "h"), UInt8(ascii: "v"): 1
        default: 2
        }
    }
}
