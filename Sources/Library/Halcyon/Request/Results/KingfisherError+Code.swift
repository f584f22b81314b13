public import Foundation

extension KingfisherError: CustomNSError {
    /// `KingfisherError.domain`.
    public static var errorDomain: String { domain }

    /// The description, which `localizedDescription` gives too.
    public var errorUserInfo: [String: Any] {
        errorDescription.map { [NSLocalizedDescriptionKey: $0] } ?? [:]
    }

    /// Kingfisher's number for the reason.
    public var errorCode: Int {
        switch self {
        case .requestError(reason: .emptyRequest): 1001
        case .requestError(reason: .invalidURL): 1002
        case .requestError(reason: .taskCancelled): 1003
        case .requestError(reason: .livePhotoTaskCancelled): 1004
        case .requestError(reason: .asyncTaskContextCancelled): 1005
        case .requestError(reason: .dataProviderCancelled): 1006
        case .responseError(reason: .invalidURLResponse): 2001
        case .responseError(reason: .invalidHTTPStatusCode): 2002
        case .responseError(reason: .URLSessionError): 2003
        case .responseError(reason: .dataModifyingFailed): 2004
        case .responseError(reason: .noURLResponse): 2005
        case .responseError(reason: .cancelledByDelegate): 2006
        case .cacheError(reason: .fileEnumeratorCreationFailed): 3001
        case .cacheError(reason: .invalidFileEnumeratorContent): 3002
        case .cacheError(reason: .invalidURLResource): 3003
        case .cacheError(reason: .cannotLoadDataFromDisk): 3004
        case .cacheError(reason: .cannotCreateDirectory): 3005
        case .cacheError(reason: .imageNotExisting): 3006
        case .cacheError(reason: .cannotConvertToData): 3007
        case .cacheError(reason: .cannotSerializeImage): 3008
        case .cacheError(reason: .cannotCreateCacheFile): 3009
        case .cacheError(reason: .cannotSetCacheFileAttribute): 3010
        case .cacheError(reason: .diskStorageIsNotReady): 3011
        case .cacheError(reason: .missingLivePhotoResourceOnDisk): 3012
        case .processorError(reason: .processingFailed): 4001
        case .imageSettingError(reason: .emptySource): 5001
        case .imageSettingError(reason: .notCurrentSourceTask): 5002
        case .imageSettingError(reason: .dataProviderError): 5003
        case .imageSettingError(reason: .alternativeSourcesExhausted): 5004
        case .imageSettingError(reason: .notCurrentLivePhotoSourceTask): 5005
        case .imageSettingError(reason: .livePhotoResultError): 5006
        }
    }
}
