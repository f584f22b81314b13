public import Foundation
import FoundationNetworking
import HalcyonWork
import Logging

extension KingfisherError: LocalizedError {
    /// A sentence with the failed operation and the reason.
    ///
    /// Users, passwords and other secrets of URLs are masked.
    public var errorDescription: String? { text.maskingSecrets }

    private static func text(_ url: URL?) -> String { url?.absoluteString ?? "an unknown URL" }

    private var text: String {
        switch self {
        case .requestError(reason: .emptyRequest):
            "There is no request: the request modifier returned nil."
        case .requestError(reason: .invalidURL(let request)):
            "The request's URL is missing or empty: \(request)."
        case .requestError(reason: .taskCancelled(let task, let token)):
            "The download of \(Self.text(task.originalURL)) was cancelled (token \(token))."
        case .requestError(reason: .livePhotoTaskCancelled(let source)):
            "Loading the live photo \(source.keys) was cancelled."
        case .requestError(reason: .asyncTaskContextCancelled):
            "The surrounding task was cancelled before the download began."
        case .requestError(reason: .dataProviderCancelled(let provider)):
            provider.filePath.map { "Loading \($0) was cancelled." }
                ?? "Loading \(provider.cacheKey) from its data provider was cancelled."
        case .responseError(reason: .invalidURLResponse(let response)):
            "The answer is not an HTTP response: \(response)."
        case .responseError(reason: .invalidHTTPStatusCode(let response)):
            "The server answered with status \(response.statusCode) for \(Self.text(response.url))."
        // These name the URL themselves.
        case .responseError(reason: .URLSessionError(let error as ImageTransportError)):
            error.description
        case .responseError(reason: .URLSessionError(let error)):
            "The transfer failed: \(error.readableDescription)"
        case .responseError(reason: .dataModifyingFailed(let task)):
            "The delegate returned no data for \(Self.text(task.originalURL))."
        case .responseError(reason: .noURLResponse(let task)):
            "There was no answer for \(Self.text(task.originalURL))."
        case .responseError(reason: .cancelledByDelegate(let response)):
            "The delegate refused the answer from \(Self.text(response.url))."
        case .cacheError(reason: .fileEnumeratorCreationFailed(let url)):
            "The cache folder cannot be listed: \(url.path)."
        case .cacheError(reason: .invalidFileEnumeratorContent(let url)):
            "The cache folder's list holds something that is not a file: \(url.path)."
        case .cacheError(reason: .invalidURLResource(let error, let key, let url)):
            "The metadata of \(url.path) (key \(key)) cannot be read: "
                + error.readableDescription
        case .cacheError(reason: .cannotLoadDataFromDisk(let url, let error as IndexFailure)):
            "The index of the cache folder \(url.path) cannot be used: \(error.reason)."
        case .cacheError(reason: .cannotLoadDataFromDisk(let url, let error))
        where url.hasDirectoryPath:
            "The cache folder \(url.path) cannot be used: \(error.readableDescription)"
        case .cacheError(reason: .cannotLoadDataFromDisk(let url, let error)):
            "The cached file \(url.path) cannot be read: \(error.readableDescription)"
        case .cacheError(reason: .cannotCreateDirectory(let path, let error)):
            "The cache folder \(path) cannot be created: \(error.readableDescription)"
        case .cacheError(reason: .imageNotExisting(let key)):
            "The image is not in the cache: \(key)."
        case .cacheError(reason: .cannotConvertToData(let object, let error)):
            "\(type(of: object)) cannot be converted to data: \(error.readableDescription)"
        case .cacheError(reason: .cannotSerializeImage(_, let original, let serializer)):
            "\(type(of: serializer)) cannot turn the image into data "
                + "(\(original.map { "\($0.count) original bytes" } ?? "no original data"))."
        case .cacheError(reason: .cannotCreateCacheFile(let fileURL, let key, let data, let error)):
            "\(data.count) bytes cannot be written to \(fileURL.path) (key \(key)): "
                + error.readableDescription
        case .cacheError(reason: .cannotSetCacheFileAttribute(let filePath, _, let error)):
            "The metadata of \(filePath) cannot be written: \(error.readableDescription)"
        case .cacheError(reason: .diskStorageIsNotReady(let cacheURL)):
            "The disk cache at \(cacheURL.path) cannot be used."
        case .cacheError(reason: .missingLivePhotoResourceOnDisk(let resource)):
            "A file of the live photo is not in the disk cache: \(resource.dataSource.cacheKey)."
        case .processorError(reason: .processingFailed(let processor, let item)):
            switch ProcessingFailures.shared.reason(of: item, by: processor) {
            // Nothing came to the processor.
            case let error as ImageCodingError where !error.isOfProcessing: error.description
            case .some(let error) where !(error is NoImage):
                "\(processor.name) failed: \(error.readableDescription)"
            default: "\(processor.name) failed: it gave no image."
            }
        case .imageSettingError(reason: .emptySource):
            "There is no source to load an image from."
        case .imageSettingError(reason: .notCurrentSourceTask(_, _, let source)):
            "The view has since been asked for another image than \(source.cacheKey)."
        case .imageSettingError(reason: .dataProviderError(let provider, let error)):
            provider.fileFailure(error)
                ?? "\(provider.filePath ?? provider.cacheKey) cannot be loaded: "
                + error.readableDescription
        case .imageSettingError(reason: .alternativeSourcesExhausted(let errors)):
            "The source and all alternatives failed: "
                + errors.map { "\($0.source.cacheKey): \($0.error.readableDescription)" }
                .joined(separator: " ")
        case .imageSettingError(reason: .notCurrentLivePhotoSourceTask(_, _, let source)):
            "Another live photo than \(source.keys) has since been asked for."
        case .imageSettingError(reason: .livePhotoResultError(_, let error, let source)):
            "The files of the live photo \(source.keys) do not make one: "
                + (error?.readableDescription ?? "no reason is known.")
        }
    }
}

extension KingfisherError {
    /// The error of a file that could not be decoded, if that was the failure and is still known.
    package var codingError: ImageCodingError? {
        guard case .processorError(reason: .processingFailed(let processor, let item)) = self
        else { return nil }
        return ProcessingFailures.shared.reason(of: item, by: processor) as? ImageCodingError
    }
}

extension ImageProcessor {
    /// The text form, such as `resize:200x100`, or the identifier of a processor without one.
    fileprivate var name: String {
        if identifier.isEmpty { return "Making the picture" }
        return writtenForm ?? identifier
    }
}

extension ImageCodingError {
    /// Whether it occurred after the file was decoded.
    fileprivate var isOfProcessing: Bool {
        if case .processing = self { true } else { false }
    }
}

extension ImageDataProvider {
    fileprivate var filePath: String? {
        contentURL.flatMap { FilePath($0)?.description }
    }

    /// The problem with the file that the provider reads; `nil` if it reads none, or if `error` is
    /// not about reading it.
    fileprivate func fileFailure(_ error: any Error) -> String? {
        guard let path = filePath else { return nil }
        if let failure = error as? FilePath.Failure { return failure.description }
        guard let error = error as? CocoaError else { return nil }
        switch (error.underlying as? POSIXError)?.code {
        case .ENOENT: return "There is no file at \(path)."
        case .ENOTDIR: return "There is no file at \(path): a part of the path is no folder."
        case .EISDIR: return "\(path) is a folder, not a file."
        default:
            return error.code == .fileReadNoSuchFile
                ? "There is no file at \(path)." : "\(path) cannot be read: \(error.reason)."
        }
    }
}

extension LivePhotoSource {
    fileprivate var keys: String {
        resources.map(\.dataSource.cacheKey).joined(separator: ", ")
    }
}

extension Error {
    /// The error's own description, without Foundation's "operation couldn't be completed".
    var readableDescription: String {
        if let localized = self as? any LocalizedError, let text = localized.errorDescription {
            return text
        }
        if let error = self as? CocoaError { return error.reason }
        if let error = self as? POSIXError { return error.reason }
        let bridged = self as NSError
        if type(of: self) is NSError.Type {
            return bridged.localizedDescription
        }
        return String(describing: self)
    }
}

extension CocoaError {
    /// The system's own words when a system call failed, else Foundation's.
    fileprivate var reason: String {
        guard let system = underlying as? POSIXError else { return localizedDescription }
        return system.reason
    }
}

extension POSIXError {
    /// The system's own words, without Foundation's domain and code.
    fileprivate var reason: String { String(cString: strerror(code.rawValue)) }
}

/// The log of problems that fail no request, such as a cache folder that is not writable.
enum HalcyonLog {
    private static let logger = Logger(label: "halcyon")

    static func warn(of error: KingfisherError) {
        logger.warning("\(error.readableDescription)")
    }

    static func warn(_ message: String) {
        logger.warning("\(message)")
    }

    /// Whether the log level includes `detail`. Read from the logger once, since that takes as long
    /// as finding an image in memory.
    static let tellsDetails = logger.logLevel <= .debug

    static func detail(_ message: String, _ details: [String: String]) {
        logger.debug("\(message)", metadata: details.mapValues { .string($0) })
    }

    static func misuse(_ message: String) {
        logger.error("\(message)")
    }
}
