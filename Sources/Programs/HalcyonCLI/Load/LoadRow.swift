import Foundation
import Halcyon
import HalcyonWork

struct LoadRow: ResultRow {
    struct Image: Sendable {
        var cacheKey: String
        var cacheType: CacheType
        /// `nil` without HTTP caching, and for sources not loaded over HTTP.
        var httpCacheUse: HTTPCacheUse?
        var format: ImageFormat
        var width: Int
        var height: Int
        var frames: Int
        /// The size of the loaded data or of the cached file, in bytes.
        var bytes: Int
        var milliseconds: Double
        var output: FilePath?
        /// `nil` unless the quality of the output was searched for.
        var foundQuality: FoundQuality?
    }

    /// The quality that was found for a size or a similarity, and the file of it.
    struct FoundQuality: Sendable {
        let quality: Double
        let bytes: Int
        let ssim: Double

        init(_ image: CompressedImage) {
            quality = image.quality
            bytes = image.data.count
            ssim = (image.ssim * 10000).rounded(.down) / 10000
        }

        var text: String {
            "quality \(quality), \(Quantity.bytes(Int64(bytes))), SSIM \(ssim)"
        }
    }

    enum Outcome: Sendable {
        case loaded(Image)
        /// The output exists already.
        case skipped(FilePath)
        case failed(LoadFailure)
    }

    let source: ImageArgument
    let outcome: Outcome

    var failure: LoadFailure? {
        if case .failed(let failure) = outcome { failure } else { nil }
    }

    var json: JSONObject {
        switch outcome {
        case .loaded(let image):
            var object = JSONObject([
                "source": source.text, "cacheKey": image.cacheKey,
                "cacheType": image.cacheType.name, "format": image.format.rawValue,
                "width": image.width, "height": image.height, "frames": image.frames,
                "bytes": image.bytes, "milliseconds": image.milliseconds.inHundredths,
                "output": image.output?.urlText,
            ])
            let found = image.foundQuality
            object.add(present: [
                "quality": found?.quality, "outputBytes": found?.bytes, "ssim": found?.ssim,
                "httpCacheUse": image.httpCacheUse?.name,
            ])
            if case .stale(.error(let error)) = image.httpCacheUse {
                object.add(["staleError": LoadFailure(error, at: source.label).json])
            }
            return object
        case .skipped(let file):
            return JSONObject([
                "source": source.text, "status": "skipped", "output": file.urlText,
            ])
        case .failed(let failure):
            return JSONObject(["source": source.text, "error": failure.json])
        }
    }

    func line(style: TextStyle) -> String {
        let name = source.label.printable
        switch outcome {
        case .loaded(let image):
            var facts = ["\(image.width)×\(image.height) \(image.format.rawValue)"]
            if image.frames > 1 { facts.append(Quantity.count(image.frames, "frame")) }
            facts.append(Quantity.bytes(Int64(image.bytes)))
            let use = image.httpCacheUse.map { " (\($0.text(source).printable))" } ?? ""
            let time = Quantity.milliseconds(image.milliseconds)
            facts.append("\(image.cacheType.origin)\(use) in \(time)")
            let arrow = image.output.map { " → \($0.description.printable)" } ?? ""
            return style(.green, "✓") + " \(name)  " + style(.faint, facts.joined(separator: ", "))
                + arrow + (image.foundQuality.map { " (\($0.text))" } ?? "")
        case .skipped(let file):
            return style(.faint, "–") + " \(name)  \(file.description.printable) exists"
        case .failed(let failure):
            return style(.red, "✗") + " \(name)  \(failure.text)"
        }
    }
}

extension FilePath {
    /// The path, or its URL when it is no text.
    var urlText: String { text ?? url.absoluteString }
}

extension CacheType {
    /// Where an image of this type is from.
    var origin: String {
        switch self {
        case .none: "loaded"
        case .memory: "from memory"
        case .disk: "from disk"
        }
    }
}

extension HTTPCacheUse {
    fileprivate var name: String {
        switch self {
        case .fetched(stored: true): "fetched"
        case .fetched(stored: false): "fetched-not-stored"
        case .fresh: "fresh"
        case .validated: "validated"
        case .stale(.revalidating): "stale-revalidating"
        case .stale(.error): "stale-error"
        case .stale(.accepted): "stale-accepted"
        }
    }

    fileprivate func text(_ source: ImageArgument) -> String {
        switch self {
        case .fetched(stored: false): "fetched, not stored"
        case .stale(.error(let error)): "stale: \(LoadFailure(error, at: source.label).message)"
        case .fetched, .fresh, .validated: name
        case .stale: "stale"
        }
    }
}

/// The result of one source.
protocol BatchRow {
    var failure: LoadFailure? { get }
}

/// A result with a line for people and an object for programs.
protocol ResultRow: BatchRow, Sendable {
    var source: ImageArgument { get }
    var json: JSONObject { get }
    func line(style: TextStyle) -> String
}

extension BatchRow {
    var isFailure: Bool { failure != nil }
    /// Whether the source failed because the user stopped the program.
    var isCancelled: Bool { failure?.isCancellation == true }
}

extension Result: BatchRow where Failure == LoadFailure {
    var failure: LoadFailure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}

extension Console {
    /// Prints a row: in JSON, or as a line that `isQuiet` leaves out unless it is a failure.
    ///
    /// - Parameter number: The number of rows so far, this one included.
    func report(_ row: some ResultRow, number: Int, of count: Int, isJSON: Bool, isQuiet: Bool) {
        if isJSON {
            print(row.json.jsonText)
        } else if !isQuiet {
            print(row.line(style: outputStyle))
        } else if row.isFailure {
            note(row.line(style: errorStyle))
        }
        if tellsProgressInLines { note("[\(number)/\(count)] \(row.source.label.printable)") }
    }
}
