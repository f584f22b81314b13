import Foundation
import Halcyon

/// The image information of one source: lines for people and an object for programs.
struct InfoRow: Sendable {
    let source: ImageArgument
    let result: Result<ImageInformation, LoadFailure>

    /// The fields of ``json``, for the help: names on the left, their meanings on the right.
    static let fields = """
          source               as it was given
          format               such as JPEG
          width, height        of a frame, in pixels as shown
          orientation          1 to 8 as in EXIF
          frames               1 for a picture
          durations, loops     of an animation: seconds of each frame; how often
                               it runs, 0 for ever
          bits                 of a sample
          alpha                whether pixels can be transparent
          colors.icc           the name of a profile, null for one without
          colors.primaries, colors.transfer
                               numbers of ITU-T H.273 in place of a profile
          camera.maker, camera.model, camera.lens, camera.software
          camera.taken         by its clock, with the difference from UTC
          camera.exposureTime  in seconds
          camera.aperture      as f-number
          camera.sensitivity   as ISO speed
          camera.focalLength   in millimetres
          quality              of JPEG, as libjpeg counts it
          gainMap              whether there is one, for brighter displays
          complete             false for a file that is cut short
          error.code, error.message
                               alone beside source: why it was not read
        """

    var json: JSONObject {
        var object = JSONObject(["source": source.text])
        switch result {
        case .failure(let failure): object.add(["error": failure.json])
        case .success(let information): information.add(to: &object)
        }
        return object
    }

    var lines: [String] {
        let name = source.label.printable
        switch result {
        case .failure(let failure): return ["\(name): \(failure.text)"]
        case .success(let information):
            return [name] + information.lines.map { "  " + $0.printable }
        }
    }
}

extension InfoRow {
    init(_ source: ImageArgument, _ downloader: ImageDownloader) async {
        do {
            let information: ImageInformation
            switch try source.source.get() {
            case .network(let resource):
                information = try await downloader.information(of: resource.downloadURL)
            case .provider(let provider):
                let data = try await Self.data(of: provider)
                information = try await BlockingWork.run { try ImageInformation(of: data) }
            }
            self.init(source: source, result: .success(information))
        } catch {
            self.init(source: source, result: .failure(LoadFailure(error, of: source)))
        }
    }

    /// The bytes, or the error that loading them is for a manager.
    private static func data(of provider: any ImageDataProvider) async throws -> Data {
        do {
            return try await provider.data()
        } catch {
            throw KingfisherError.imageSettingError(
                reason: .dataProviderError(provider: provider, error: error))
        }
    }
}

extension ImageInformation {
    fileprivate func add(to object: inout JSONObject) {
        object.add([
            "format": format.rawValue, "width": size.width, "height": size.height,
            "orientation": orientation, "frames": frameCount,
        ])
        object.add(present: ["durations": animation?.durations, "loops": animation?.loopCount])
        object.add(["bits": bitsPerSample, "alpha": hasAlpha])
        let colors =
            switch colorProfile {
            case .icc(let name)?: JSONObject(["icc": name])
            case .coded(let primaries, let transfer)?:
                JSONObject(["primaries": primaries, "transfer": transfer])
            case nil: JSONObject?.none
            }
        object.add(present: ["colors": colors, "camera": camera?.json, "quality": jpegQuality])
        object.add(["gainMap": hasGainMap, "complete": isComplete])
    }
}

extension ImageInformation.Camera {
    fileprivate var json: JSONObject {
        var object = JSONObject()
        object.add(present: [
            "maker": maker, "model": model, "lens": lens, "software": software, "taken": taken,
            "exposureTime": exposureTime, "aperture": aperture, "sensitivity": sensitivity,
            "focalLength": focalLength,
        ])
        return object
    }
}
