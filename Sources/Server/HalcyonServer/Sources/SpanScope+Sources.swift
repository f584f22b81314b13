import Foundation
import FoundationNetworking
import HalcyonTelemetry
import Tracing

/// Tells servers of sources of the trace.
private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into request: inout URLRequest) {
        request.setValue(value, forHTTPHeaderField: key)
    }
}

extension SpanScope {
    func tell(_ request: inout URLRequest, of span: any Span) {
        tracer?.inject(span.context, into: &request, using: FieldInjector())
    }
}

extension Span {
    /// Notes a request to the server of a source, after `hop` redirects.
    func note(_ request: URLRequest, hop: Int) {
        updateAttributes { attributes in
            attributes["http.request.method"] = request.httpMethod ?? "GET"
            if let host = request.url?.host { attributes["server.address"] = host }
            attributes["halcyon.hop"] = hop
        }
    }
}
