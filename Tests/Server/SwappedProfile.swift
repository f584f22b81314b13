import Foundation

/// An ICC profile of sRGB in which red and green have changed places: whoever obeys it shows green where red
/// is stored.
enum SwappedProfile {
    static let data: Data = {
        // Version, class and spaces of a display's matrix profile (ICC.1:2010, 7.2), and D50.
        var header = Data(count: 128)
        func put(_ text: String, at offset: Int) {
            header.replaceSubrange(offset..<offset + text.utf8.count, with: Data(text.utf8))
        }
        header.replaceSubrange(8..<12, with: [2, 0x40, 0, 0])
        put("mntr", at: 12)
        put("RGB ", at: 16)
        put("XYZ ", at: 20)
        put("acsp", at: 36)
        header.replaceSubrange(68..<80, with: fixed(0.9642) + fixed(1) + fixed(0.8249))

        let curve = Data("curv\0\0\0\0".utf8) + number(1) + [2, 0x33, 0, 0]
        let text = Data("text\0\0\0\0none\0\0\0\0".utf8)
        let description =
            Data("desc\0\0\0\0".utf8) + number(5) + Data("swap\0".utf8) + Data(count: 78)
        let elements: [(String, Data)] = [
            ("desc", description + [0]), ("cprt", text), ("wtpt", xyz(0.9642, 1, 0.8249)),
            ("rXYZ", xyz(0.3851, 0.7169, 0.0971)), ("gXYZ", xyz(0.4361, 0.2225, 0.0139)),
            ("bXYZ", xyz(0.1431, 0.0606, 0.7141)), ("rTRC", curve), ("gTRC", curve),
            ("bTRC", curve),
        ]
        var table = number(elements.count)
        var content = Data()
        let start = 128 + 4 + 12 * elements.count
        for (name, element) in elements {
            table += Data(name.utf8) + number(start + content.count) + number(element.count)
            content += element
            content += Data(count: (4 - content.count % 4) % 4)
        }
        var profile = header + table + content
        profile.replaceSubrange(0..<4, with: number(profile.count))
        return profile
    }()

    private static func number(_ value: Int) -> Data {
        withUnsafeBytes(of: UInt32(value).bigEndian) { Data($0) }
    }

    private static func fixed(_ value: Double) -> Data { number(Int((value * 65536).rounded())) }

    private static func xyz(_ x: Double, _ y: Double, _ z: Double) -> Data {
        Data("XYZ \0\0\0\0".utf8) + fixed(x) + fixed(y) + fixed(z)
    }
}
