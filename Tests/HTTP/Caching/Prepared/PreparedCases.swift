import Foundation

/// The collection http-tests/cache-tests as data, which tests use when it is there.
struct PreparedCases: Decodable, Sendable {
    struct Suite: Decodable, Sendable {
        var tests: [PreparedCase]
    }

    private var suites: [Suite]

    /// The directory named by `HALCYON_HTTP_CACHE_TESTS`, else `../shared/http-cache-tests` seen
    /// from the package.
    static let directory: URL =
        ProcessInfo.processInfo.environment["HALCYON_HTTP_CACHE_TESTS"]
        .map { URL(fileURLWithPath: $0, isDirectory: true) }
        ?? URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent()  // Prepared
        .deletingLastPathComponent()  // Caching
        .deletingLastPathComponent()  // HTTP
        .deletingLastPathComponent()  // Tests
        .deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("shared/http-cache-tests")

    static var areThere: Bool {
        FileManager.default.fileExists(
            atPath: directory.appendingPathComponent("private.json").path)
    }

    /// The cases of `private.json` and `shared.json`, read once.
    static let privateSet = Result { try load("private") }
    static let sharedSet = Result { try load("shared") }

    private static func load(_ set: String) throws -> [PreparedCase] {
        let file = directory.appendingPathComponent("\(set).json")
        return try JSONDecoder().decode(PreparedCases.self, from: Data(contentsOf: file))
            .suites.flatMap(\.tests)
    }
}

/// One case: what a client asks, what the origin answers if it is asked, and what is checked.
struct PreparedCase: Decodable, Sendable {
    enum Kind: String, Decodable, Sendable {
        case required, optimal, check
    }

    var id: String
    var kind: Kind
    var dependsOn: [String]?
    var requests: [Step]

    enum CodingKeys: String, CodingKey {
        case id, kind, requests
        case dependsOn = "depends_on"
    }

    /// One request of the client. The names are those of the collection.
    struct Step: Decodable, Sendable {
        var requestMethod: String?
        var requestHeaders: [PreparedField]?
        var queryArg: String?
        var filename: String?
        var magicIms: Bool?
        var rfc850date: [String]?
        var cache: String?
        var pauseAfter: Bool?
        var responseStatus: [PreparedValue]?
        var responseHeaders: [PreparedField]?
        var responseBody: String?
        var responsePause: Int?
        var disconnect: Bool?
        var magicLocations: Bool?
        var expectedType: String?
        /// `.null` when the status is not checked.
        var expectedStatus: PreparedValue?
        var expectedMethod: String?
        var expectedRequestHeaders: [PreparedField]?
        var expectedResponseHeaders: [PreparedField]?
        var expectedResponseHeadersMissing: [PreparedField]?
        var expectedResponseText: PreparedValue?
        var checkBody: Bool?
        var setup: Bool?
        var setupTests: [String]?

        enum CodingKeys: String, CodingKey {
            case requestMethod = "request_method", requestHeaders = "request_headers"
            case queryArg = "query_arg", filename, magicIms = "magic_ims", rfc850date, cache
            case pauseAfter = "pause_after", responseStatus = "response_status"
            case responseHeaders = "response_headers", responseBody = "response_body"
            case responsePause = "response_pause", disconnect, magicLocations = "magic_locations"
            case expectedType = "expected_type", expectedStatus = "expected_status"
            case expectedMethod = "expected_method"
            case expectedRequestHeaders = "expected_request_headers"
            case expectedResponseHeaders = "expected_response_headers"
            case expectedResponseHeadersMissing = "expected_response_headers_missing"
            case expectedResponseText = "expected_response_text", checkBody = "check_body"
            case setup, setupTests = "setup_tests"
        }

        /// Decodes a value that is there but `null` as `.null`.
        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            func value<T: Decodable>(_ key: CodingKeys) throws -> T? {
                try fields.decodeIfPresent(T.self, forKey: key)
            }
            func nullable(_ key: CodingKeys) throws -> PreparedValue? {
                fields.contains(key) ? try fields.decode(PreparedValue.self, forKey: key) : nil
            }
            requestMethod = try value(.requestMethod)
            requestHeaders = try value(.requestHeaders)
            queryArg = try value(.queryArg)
            filename = try value(.filename)
            magicIms = try value(.magicIms)
            rfc850date = try value(.rfc850date)
            cache = try value(.cache)
            pauseAfter = try value(.pauseAfter)
            responseStatus = try value(.responseStatus)
            responseHeaders = try value(.responseHeaders)
            responseBody = try value(.responseBody)
            responsePause = try value(.responsePause)
            disconnect = try value(.disconnect)
            magicLocations = try value(.magicLocations)
            expectedType = try value(.expectedType)
            expectedStatus = try nullable(.expectedStatus)
            expectedMethod = try value(.expectedMethod)
            expectedRequestHeaders = try value(.expectedRequestHeaders)
            expectedResponseHeaders = try value(.expectedResponseHeaders)
            expectedResponseHeadersMissing = try value(.expectedResponseHeadersMissing)
            expectedResponseText = try nullable(.expectedResponseText)
            checkBody = try value(.checkBody)
            setup = try value(.setup)
            setupTests = try value(.setupTests)
        }
    }
}
