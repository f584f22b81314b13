import Halcyon

struct DemoTable {
    struct Row {
        let name: String
        let cold: LoadRow.Image
        let disk: LoadRow.Image
        let memory: LoadRow.Image

        var label: [String] {
            [
                name,
                "\(cold.format.rawValue) \(extent) \(Quantity.bytes(Int64(cold.bytes)))",
                "ms " + times.joined(separator: " / "),
            ]
        }

        fileprivate var extent: String {
            "\(cold.width)×\(cold.height)" + (cold.frames > 1 ? "×\(cold.frames)" : "")
        }

        /// Milliseconds cold, from disk and from memory.
        fileprivate var times: [String] {
            [cold, disk, memory].map { image in
                String(Quantity.milliseconds(image.milliseconds).dropLast(3))
            }
        }
    }

    /// The pictures for which all three loads succeeded.
    let rows: [Row]

    init(
        names: [String], cold: [String: LoadRow.Image], disk: [String: LoadRow.Image],
        memory: [String: LoadRow.Image]
    ) {
        rows = names.compactMap { name in
            guard let cold = cold[name], let disk = disk[name], let memory = memory[name] else {
                return nil
            }
            return Row(name: name, cold: cold, disk: disk, memory: memory)
        }
    }

    var lines: [String] {
        var table = Table(
            .init(title: "source"), .init(title: "format"),
            .init(title: "bytes", alignment: .right), .init(title: "pixels", alignment: .right),
            .init(title: "cold ms", alignment: .right), .init(title: "disk ms", alignment: .right),
            .init(title: "memory ms", alignment: .right))
        for row in rows {
            table.add(
                [
                    row.name, row.cold.format.rawValue, Quantity.bytes(Int64(row.cold.bytes)),
                    row.extent,
                ] + row.times)
        }
        return table.lines
    }
}
