public import Foundation
public import Halcyon

/// An answer of a `TestTransport` to a request.
public struct TestAnswer: Sendable {
    enum Outcome: Sendable {
        case response(status: Int, body: Data)
        case failure(TransportError)
    }

    let outcome: Outcome
    private(set) var headers: [(name: String, value: String)] = []
    private(set) var delay: Duration = .zero
    private(set) var pieceLength: Int?
    private(set) var pieceDelay: Duration = .zero

    private init(_ outcome: Outcome) {
        self.outcome = outcome
    }

    /// A response of `status` with `body`.
    public static func data(
        _ body: Data, status: Int = 200, contentType: String? = nil
    ) -> TestAnswer {
        let answer = TestAnswer(.response(status: status, body: body))
        return contentType.map { answer.header("Content-Type", $0) } ?? answer
    }

    /// 200 with the image encoded in `format`.
    /// - Throws: `ImageCodingError` if it cannot be encoded.
    public static func image(_ image: Image, format: ImageFormat = .PNG) throws -> TestAnswer {
        .data(try image.kf.data(format: format, options: ImageEncodingOptions()))
    }

    /// A response of `status` without a body.
    public static func status(_ status: Int) -> TestAnswer {
        .data(Data(), status: status)
    }

    /// A redirect.
    public static func redirect(to url: URL, status: Int = 302) -> TestAnswer {
        TestAnswer.status(status).header("Location", url.absoluteString)
    }

    /// A network failure with `error` instead of a response.
    public static func failure(_ error: TransportError) -> TestAnswer {
        TestAnswer(.failure(error))
    }

    /// This answer with a header field. `Content-Length` is always added.
    public func header(_ name: String, _ value: String) -> TestAnswer {
        with { $0.headers.append((name, value)) }
    }

    /// This answer or failure delayed by `duration` on the transport's clock.
    public func delayed(by duration: Duration) -> TestAnswer {
        with { $0.delay = duration }
    }

    /// This answer with its body in pieces of `length` bytes, at least 1, with `duration` between
    /// them on the transport's clock. The first piece comes with the header.
    public func inPieces(of length: Int, every duration: Duration) -> TestAnswer {
        with {
            $0.pieceLength = max(1, length)
            $0.pieceDelay = duration
        }
    }

    private func with(_ change: (inout TestAnswer) -> Void) -> TestAnswer {
        var answer = self
        change(&answer)
        return answer
    }
}
