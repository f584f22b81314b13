import ArgumentParser
import Foundation
import Halcyon

/// Makes pictures of a JPEG file again and again, one after the other, and prints how many and the processor
/// seconds for them: what an image server has the library do for a new picture, without a server.
struct CostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "cost", shouldDisplay: false)

    @Argument(help: "The file.")
    var file: String
    @Argument(help: "Seconds.")
    var seconds: Double
    @Argument(help: "The widths of the pictures, in turn.")
    var widths: [Int]

    func run() async throws {
        for width in widths.prefix(10) { try make(width) }
        let (clock, start, before) = (ContinuousClock(), ContinuousClock.now, Self.processorSeconds)
        var count = 0
        while clock.now - start < .seconds(seconds) {
            try make(widths[count % widths.count])
            count += 1
        }
        print(count, Self.processorSeconds - before)
    }

    /// Reads the file, makes a picture of it as wide as asked for, and writes that as JPEG.
    private func make(_ width: Int) throws {
        let data = try Data(contentsOf: URL(filePath: file))
        let processor = DownsamplingImageProcessor(size: CGSize(width: width, height: width))
        let options = KingfisherParsedOptionsInfo(nil)
        guard let image = processor.process(item: .data(data), options: options),
            let written = image.kf.jpegRepresentation(compressionQuality: 0.8)
        else { throw BenchmarkError("Halcyon does not read \(file)") }
        consume(written)
    }

    /// User and system time of this process.
    private static var processorSeconds: Double {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) {
            $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
        }
    }
}
