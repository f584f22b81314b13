import Foundation

extension Row {
    /// The row as an object on one line. `ours` and `peer` are medians in `unit`; `ratio` is
    /// `peer / ours`, absent when `ours` is 0.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(JSONRow(self)), as: UTF8.self)
        } catch {
            preconditionFailure("a row holds a number that is none: \(error)")
        }
    }
}

private struct JSONRow: Encodable {
    let name: String
    let ours: Double
    let oursMinimum: Double
    let oursMaximum: Double
    let oursCPU: Double?
    let oursQuality: Double?
    let qualityMeasure: QualityClass.Measure?
    let peer: Double
    let peerMinimum: Double
    let peerMaximum: Double
    let peerCPU: Double?
    let peerQuality: Double?
    let peerName: String
    let ratio: Double?
    let target: Double?
    let unit: String
    let clock: String
    let rounds: Int

    init(_ row: Row) {
        name = row.name
        ours = row.ours.spread.median
        oursMinimum = row.ours.spread.minimum
        oursMaximum = row.ours.spread.maximum
        oursCPU = row.ours.cpu
        oursQuality = row.ours.quality
        qualityMeasure = row.ours.quality.flatMap { _ in row.qualityClass?.measure }
        peer = row.peer.spread.median
        peerMinimum = row.peer.spread.minimum
        peerMaximum = row.peer.spread.maximum
        peerCPU = row.peer.cpu
        peerQuality = row.peer.quality
        peerName = row.peerName
        ratio = row.ratio
        target = row.target
        unit = row.unit.symbol
        clock = row.clock.rawValue
        rounds = row.rounds
    }
}
