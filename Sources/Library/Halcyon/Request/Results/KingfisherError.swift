public import Foundation
public import FoundationNetworking

/// Everything that can go wrong, grouped by the stage it went wrong in.
///
/// Names, reasons and codes are Kingfisher's.
public indirect enum KingfisherError: Error {
    // Indirect since every result and every step of a request has room for one: some of the reasons
    // carry whole results, and room for those, too, was a third of the time of many requests at once.

    /// Making the request failed, or it was cancelled. Codes 1001–1006.
    case requestError(reason: RequestErrorReason)
    /// The response, or its absence, failed the request. Codes 2001–2006.
    case responseError(reason: ResponseErrorReason)
    /// The cache failed. Codes 3001–3012.
    case cacheError(reason: CacheErrorReason)
    /// Bytes or an image could not be processed. Code 4001.
    case processorError(reason: ProcessorErrorReason)
    /// Setting an image to a view failed. Codes 5001–5006.
    case imageSettingError(reason: ImageSettingErrorReason)

    /// The domain of the bridged `NSError`.
    public static let domain = "com.onevcat.Kingfisher.Error"
}

extension KingfisherError {
    /// Why making the request failed.
    public enum RequestErrorReason: Sendable {
        /// The request modifier gave no request. Code 1001.
        case emptyRequest
        /// The request has no URL, or an empty one. Code 1002.
        case invalidURL(request: URLRequest)
        /// The download was cancelled. Code 1003.
        case taskCancelled(task: SessionDataTask, token: SessionDataTask.CancelToken)
        /// Loading a live photo was cancelled. Code 1004.
        case livePhotoTaskCancelled(source: LivePhotoSource)
        /// The surrounding Swift task was cancelled before the download began. Code 1005.
        case asyncTaskContextCancelled
        /// Loading from a data provider was cancelled. Code 1006.
        case dataProviderCancelled(provider: any ImageDataProvider)
    }

    /// Why the server's answer failed the request.
    public enum ResponseErrorReason: Sendable {
        /// The answer is not an HTTP response. Code 2001.
        case invalidURLResponse(response: URLResponse)
        /// The status code is not an accepted one. Code 2002.
        case invalidHTTPStatusCode(response: HTTPURLResponse)
        /// The transfer failed; `error` says how. Code 2003.
        case URLSessionError(error: any Error)
        /// The delegate's data hook gave no data. Code 2004.
        case dataModifyingFailed(task: SessionDataTask)
        /// The transfer ended without an answer. Code 2005.
        case noURLResponse(task: SessionDataTask)
        /// The delegate refused the answer. Code 2006.
        case cancelledByDelegate(response: URLResponse)
    }

    /// Why the cache failed.
    public enum CacheErrorReason: @unchecked Sendable {
        // Unchecked because of `Any` values that are only carried to be looked at.

        /// The cache folder cannot be listed. Code 3001.
        case fileEnumeratorCreationFailed(url: URL)
        /// The cache folder's list holds something that is not a file. Code 3002.
        case invalidFileEnumeratorContent(url: URL)
        /// The metadata of a cached file cannot be read. Code 3003.
        case invalidURLResource(error: any Error, key: String, url: URL)
        /// A cached file cannot be read. Code 3004.
        case cannotLoadDataFromDisk(url: URL, error: any Error)
        /// The cache folder cannot be made. Code 3005.
        case cannotCreateDirectory(path: String, error: any Error)
        /// There is no such image in the cache. Code 3006.
        case imageNotExisting(key: String)
        /// A value cannot be turned into data to be stored. Code 3007.
        case cannotConvertToData(object: Any, error: any Error)
        /// The serializer gave no data for an image. Code 3008.
        case cannotSerializeImage(
            image: KFCrossPlatformImage?, original: Data?, serializer: any CacheSerializer)
        /// A file cannot be written into the cache. Code 3009.
        case cannotCreateCacheFile(fileURL: URL, key: String, data: Data, error: any Error)
        /// The metadata of a cached file cannot be written. Code 3010.
        case cannotSetCacheFileAttribute(
            filePath: String, attributes: [FileAttributeKey: Any], error: any Error)
        /// The disk cache cannot be used. Code 3011.
        case diskStorageIsNotReady(cacheURL: URL)
        /// A file of a live photo is not on disk although it was written. Code 3012.
        case missingLivePhotoResourceOnDisk(_ resource: LivePhotoResource)
    }

    /// Why processing failed.
    public enum ProcessorErrorReason: Sendable {
        /// The processor gave no image. Code 4001.
        case processingFailed(processor: any ImageProcessor, item: ImageProcessItem)
    }

    /// Why an image was not set.
    public enum ImageSettingErrorReason: Sendable {
        /// There is nothing to load. Code 5001.
        case emptySource
        /// The view has been asked for another image since. Code 5002.
        case notCurrentSourceTask(result: RetrieveImageResult?, error: (any Error)?, source: Source)
        /// The data provider failed. Code 5003.
        case dataProviderError(provider: any ImageDataProvider, error: any Error)
        /// The source and all its alternatives failed, with these errors in order. Code 5004.
        case alternativeSourcesExhausted([PropagationError])
        /// Another live photo has been asked for since. Code 5005.
        case notCurrentLivePhotoSourceTask(
            result: LivePhotoLoadingInfoResult?, error: (any Error)?, source: LivePhotoSource)
        /// The files of a live photo do not make one. Raised by presentations only. Code 5006.
        case livePhotoResultError(
            result: LivePhotoLoadingInfoResult?, error: (any Error)?, source: LivePhotoSource)
    }

    /// Whether a download was cancelled by its task (code 1003 only).
    public var isTaskCancelled: Bool {
        if case .requestError(reason: .taskCancelled) = self { true } else { false }
    }

    /// Whether the request was cancelled, in any way: 1003, 1004, 1005 or 1006.
    public var isCancelled: Bool {
        guard case .requestError(let reason) = self else { return false }
        switch reason {
        case .taskCancelled, .livePhotoTaskCancelled, .asyncTaskContextCancelled,
            .dataProviderCancelled:
            return true
        case .emptyRequest, .invalidURL: return false
        }
    }

    /// Whether the server answered with a status code that is not accepted.
    public var isInvalidResponseStatusCode: Bool {
        if case .responseError(reason: .invalidHTTPStatusCode) = self { true } else { false }
    }

    /// Whether the server answered with the status `code`, and it is not accepted.
    public func isInvalidResponseStatusCode(_ code: Int) -> Bool {
        statusOfAnswer == code
    }

    /// Whether a view has been asked for another image since (code 5002).
    public var isNotCurrentTask: Bool {
        if case .imageSettingError(reason: .notCurrentSourceTask) = self { true } else { false }
    }
}

/// An error together with the source that failed with it.
public struct PropagationError: Sendable {
    public let source: Source
    public let error: KingfisherError

    public init(source: Source, error: KingfisherError) {
        self.source = source
        self.error = error
    }
}
