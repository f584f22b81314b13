import Foundation

extension ImageServerConfiguration.Signature {
    /// Adds the pairs of the file with keys, behind those that are set. Faults tell nothing of what it holds.
    mutating func takeKeysFile(_ faults: inout [String]) {
        guard let path = keysFile else { return }
        guard let data = FileManager.default.contents(atPath: path),
            let text = String(data: data, encoding: .utf8)
        else {
            faults.append("signature.keysFile: the file \(path) cannot be read.")
            return
        }
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            guard words.count == 2 else {
                faults.append(
                    "signature.keysFile: line \(number + 1) of \(path) is not a key and its salt.")
                continue
            }
            keys.append(String(words[0]))
            salts.append(String(words[1]))
        }
    }
}
