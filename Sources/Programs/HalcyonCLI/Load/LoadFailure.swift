import Foundation
import FoundationNetworking
import Halcyon

/// Why a source was not loaded or its picture not written, as the JSON rows tell it.
struct LoadFailure: Error, Equatable {
    /// `KingfisherError`'s code, or one of those below.
    let code: Int
    var message: String
    /// Whether nothing went wrong but the user's patience.
    var isCancellation = false

    /// The source is no URL, file or data URI that can be loaded; the code of `invalidURL`.
    static let badSource = 1002
    /// The code of `dataProviderError`.
    static let unreadable = 5003
    static let encodingFailed = 9001
    static let outputNotWritable = 9002
    static let other = 9000

    /// For programs.
    var json: JSONObject {
        JSONObject(["code": code, "message": message])
    }

    /// For people: on one line.
    var text: String { "\(message.printable) (\(code))" }
}

extension LoadFailure {
    init(_ error: any Error) {
        switch error {
        case let failure as LoadFailure:
            self = failure
        case KingfisherError.cacheError(reason: .imageNotExisting):
            // The key is nothing that the user has written.
            self.init(code: 3006, message: "The image is not in the cache.")
        case let error as KingfisherError:
            self.init(
                code: error.errorCode, message: error.errorDescription ?? String(describing: error))
            isCancellation = error.isCancelled
        case is CancellationError:
            self.init(KingfisherError.requestError(reason: .asyncTaskContextCancelled))
        default:
            self.init(code: Self.other, message: ErrorText.of(error))
        }
    }

    /// The failure of a file, which is named where it has ended its decoder.
    ///
    /// - Parameter place: The path or URL that was given, as people are told it.
    init(_ error: any Error, at place: String) {
        self.init(error)
        let cause = (error as? ImageCodingError) ?? (error as? KingfisherError)?.codingError
        if case .decoderStopped(let format, let reason)? = cause {
            message = "The decoder of \(format.rawValue) stopped (\(reason)) at \(place)."
        }
    }

    /// The failure of a source, with what may have been meant in its place.
    init(_ error: any Error, of argument: ImageArgument) {
        self.init(error, at: argument.label)
        let hint =
            argument.isFolder
            ? "load and info take the pictures in it with -r"
            : argument.meantURL.map { "for a URL write \($0)" }
        guard !isCancellation, let hint else { return }
        let fault = message.hasSuffix(".") ? message.dropLast() : message[...]
        message = "\(fault); \(hint)"
    }
}

/// A sentence about something that keeps a command from its work.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String
}

enum ErrorText {
    static func of(_ error: any Error) -> String {
        switch error {
        case let failure as LoadFailure: failure.message
        case let error as POSIXError: error.text
        case let error as CocoaError:
            (error.underlying as? POSIXError)?.text ?? error.localizedDescription
        case let error as any LocalizedError: error.errorDescription ?? String(describing: error)
        case let error as any CustomStringConvertible: error.description
        default: (error as NSError).localizedDescription
        }
    }
}
