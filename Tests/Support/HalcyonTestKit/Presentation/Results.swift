package import Halcyon

package typealias SettingResult = Result<RetrieveImageResult, KingfisherError>

extension Result where Success == RetrieveImageResult, Failure == KingfisherError {
    package var value: RetrieveImageResult? {
        if case .success(let value) = self { value } else { nil }
    }
    package var width: Int? { value?.image.pixelSize.width }
}

/// Results of several calls, which can be waited for.
@MainActor package final class Results {
    private let recorder = Recorder<(Int, SettingResult)>()

    package init() {}

    /// A completion that adds its result under `number`.
    package func add(_ number: Int = 0) -> ImageSettingCompletion {
        { [recorder] in recorder.record((number, $0)) }
    }

    package var count: Int { recorder.count }

    /// The results in the order of their numbers, once there are `count`.
    package func wait(for count: Int) async -> [SettingResult] {
        await recorder.waitFor(count: count).sorted { $0.0 < $1.0 }.map(\.1)
    }
}

extension Result where Failure == KingfisherError {
    package var error: KingfisherError? {
        if case .failure(let error) = self { error } else { nil }
    }

    /// The error's code; `nil` for a success.
    package var errorCode: Int? { error?.errorCode }

    /// Why the transfer failed, if it did.
    package var transportError: ImageTransportError? { error?.transportError }
}

extension ImageTransportError {
    /// The name of its case.
    package var kind: String? { Mirror(reflecting: self).children.first?.label }
}

extension KingfisherError {
    /// Why the transfer failed, if it did.
    package var transportError: ImageTransportError? {
        guard case .responseError(reason: .URLSessionError(let error)) = self else { return nil }
        return error as? ImageTransportError
    }
}

/// A value that a test cannot go on with.
package struct Unexpected: Error, CustomStringConvertible {
    package let description: String

    package init(_ found: Any?) { description = "\(found ?? "nothing")" }
}
