import Configuration
import Foundation
import HalcyonHTTP
import HalcyonServer
import HalcyonTestKit
import Testing

/// Settings from files and the environment, and what is refused at the start.
@Suite struct ConfigurationTests {
    private func faults(_ change: (inout ImageServerConfiguration) -> Void) throws -> [String] {
        let folder = try TemporaryDirectory()
        var configuration = ImageServerConfiguration()
        configuration.sources.local.root = folder.url.path
        configuration.signature.keys = ["943b421c9eb07c83"]
        configuration.signature.salts = ["520f986b998545b4"]
        configuration.cache.directory = "/tmp/halcyon-server-no-such-folder"
        change(&configuration)
        do throws(ConfigurationError) {
            _ = try ImageServer(configuration: configuration)
            return []
        } catch {
            return error.faults
        }
    }

    @Test func settingsOfAReaderAreTakenByTheirNames() throws {
        let reader = ConfigReader(
            provider: InMemoryProvider(values: [
                "images.limits.maxPixels": 1_000_000, "images.limits.maxDpr": 2.5,
                "images.sources.http.allow": .init(
                    .stringArray(["https://example.com", "*"]), isSecret: false),
                "images.sources.http.ports": .init(.intArray([80, 8080]), isSecret: false),
                "images.signature.required": false, "images.ops.token": "secret",
                "images.bind": "127.0.0.1:0,127.0.0.2:0",
            ])
        ).scoped(to: "images")
        let configuration = try ImageServerConfiguration(reader: reader)
        let limits = configuration.limits
        #expect(limits.maxPixels == 1_000_000 && limits.maxDPR == 2.5)
        let http = configuration.sources.http
        #expect(http.allow == ["https://example.com", "*"] && http.ports == [80, 8080])
        #expect(!configuration.signature.isRequired)
        #expect(configuration.operationsToken == "secret" && configuration.bind.count == 2)
        #expect(configuration.http.ttl == ImageServerConfiguration().http.ttl)

        let wrong = ConfigReader(
            provider: InMemoryProvider(values: [
                "limits.maxPixels": "many", "signature.required": 7,
            ]))
        #expect(
            throws: ConfigurationError(faults: [
                "signature.required must be true or false.",
                "limits.maxPixels must be a whole number from 1 to 1099511627776.",
            ])
        ) { try ImageServerConfiguration(reader: wrong) }
    }

    @Test func settingsOfAFileAreTakenNestedOrWithDots() throws {
        var (configuration, expected) = (ImageServerConfiguration(), ImageServerConfiguration())
        let file = """
            {"bind": "127.0.0.1:0", "limits": {"maxPixels": 1000000, "maxDpr": 2.5},
             "sources.http.allow": ["https://example.com"], "http": {"ttl": 60},
             "processing": {"formatQuality": {"webp": 70}}, "ops.bind": null}
            """
        try configuration.take(file: Data(file.utf8))
        expected.bind = [.tcp(host: "127.0.0.1", port: 0)]
        expected.operationsBind = nil
        (expected.limits.maxPixels, expected.limits.maxDPR) = (1_000_000, 2.5)
        expected.sources.http.allow = ["https://example.com"]
        expected.http.ttl = .seconds(60)
        expected.processing.formatQuality = ["webp": 70]
        #expect(configuration == expected)
    }

    @Test func theConfigurationOfThePackageIsTakenWithAndWithoutItsExamples() throws {
        let file = try ServerGuide.text("Packaging/server.json")
        var (configuration, expected) = (ImageServerConfiguration(), ImageServerConfiguration())
        try configuration.take(file: Data(file.utf8))
        #expect(configuration == expected)

        let examples = file.replacing("// \"", with: "\"")
        try configuration.take(file: Data(examples.utf8))
        expected.bind = [.tcp(host: "0.0.0.0", port: 8080)]
        expected.sources.local.root = "/srv/pictures"
        expected.sources.http.allow = ["https://*.example.com/pictures"]
        expected.negotiation.formats = ["avif", "webp"]
        expected.trustedProxies = [try #require(IPNetwork("127.0.0.0/8"))]
        #expect(configuration == expected)
    }

    @Test func anUnknownSettingIsToldWithTheNearestOne() {
        var configuration = ImageServerConfiguration()
        let wrong = ConfigurationError(faults: [
            "limits.maxFrames must be a whole number from 1 to 10000.",
            "There is no setting limits.maxPixel. The nearest is limits.maxPixels.",
        ])
        #expect(throws: wrong) {
            try configuration.take(file: Data(#"{"limits": {"maxPixel": 1, "maxFrames": 0}}"#.utf8))
        }
    }

    @Test func variablesOfTheEnvironmentNameSettings() throws {
        var configuration = ImageServerConfiguration()
        let unknown = try configuration.take(environment: [
            "HALCYON_LIMITS_MAX_PIXELS": "5000",
            "HALCYON_SOURCES_HTTP_ALLOW": "a.example, b.example",
            "HALCYON_NEGOTIATION_CLIENT_HINTS": "true", "HALCYON_SERVER_NAME": "a",
            "HALCYON_TEST_VIEWS": "1", "HALCYON_PROCESSING_FORMAT_QUALITY": "webp=70,avif=50",
            "HALCYON_SOURCES_BASE_URL": "https://example.com/",
        ])
        #expect(unknown == ["HALCYON_SERVER_NAME"])
        #expect(configuration.limits.maxPixels == 5000)
        #expect(configuration.sources.http.allow == ["a.example", "b.example"])
        #expect(configuration.negotiation.usesClientHints)
        #expect(configuration.processing.formatQuality == ["webp": 70, "avif": 50])
        #expect(configuration.sources.baseURL == "https://example.com/")
    }

    @Test(
        arguments: [
            ("HALCYON_SIGNATUR_KEYS", "HALCYON_SIGNATURE_KEYS"),
            ("HALCYON_SIGNATURE_KEY", "HALCYON_SIGNATURE_KEYS"),
            ("HALCYON_SOURCE_HTTP_ALLOW", "HALCYON_SOURCES_HTTP_ALLOW"),
            ("HALCYON_LIMITS_MAX_PIXEL", "HALCYON_LIMITS_MAX_PIXELS"), ("HALCYON_CACHE_DIR", nil),
            ("HALCYON_LIMITS_", nil), ("HALCYON_SECRETT", "HALCYON_SECRET"),
            ("HALCYON_BINDS", "HALCYON_BIND"), ("HALCYON_PUBLIC_UR", "HALCYON_PUBLIC_URL"),
            ("HALCYON_SERVER_SIGNATURE_KEYS", "HALCYON_SIGNATURE_KEYS"),
        ] as [(String, String?)])
    func aVariableThatIsNearlyASettingIsAFault(name: String, nearest: String?) {
        var configuration = ImageServerConfiguration()
        let error = #expect(throws: ConfigurationError.self) {
            try configuration.take(environment: [name: "x"])
        }
        let start = "There is no setting \(name). The nearest is HALCYON_"
        #expect(error?.faults.count == 1 && error?.faults.first?.hasPrefix(start) == true)
        if let nearest { #expect(error?.faults.first?.hasSuffix(" \(nearest).") == true) }
    }

    @Test func aVariableThatIsFarFromAllSettingsIsNamed() throws {
        var configuration = ImageServerConfiguration()
        let names = ["HALCYON_", "HALCYON_HOME", "HALCYON_SERVR_PORT", "HALCYON_VERSION"]
        let unknown = try configuration.take(
            environment: Dictionary(uniqueKeysWithValues: names.map { ($0, "8080") }))
        #expect(unknown == names)
        #expect(configuration == ImageServerConfiguration())
    }

    @Test func variablesOfOtherProgramsAreLeftAlone() throws {
        var configuration = ImageServerConfiguration()
        let unknown = try configuration.take(environment: [
            "HALCYON_TEST_VIEWS": "1", "HALCYON_PROGRAMS": "/srv", "HALCYON_LIBRARY_ALONE": "yes",
            "HALCYON_CORPUS": "/srv", "HALCYON_HTTP_CACHE_TESTS": "/srv", "HALCYON_SCHEDULE": "7",
            "HALCYON_FUZZ_TARGET": "a", "HALCYON_OTHER_ROOT": "/srv", "HALCYON_FLAKY_LIST": "a",
            "HALCYON_SERVICE_HOST": "10.0.0.1", "HALCYON_SERVICE_PORT": "80",
            "HALCYON_PORT": "tcp://10.0.0.1:80", "HALCYON_PORT_80_TCP_ADDR": "10.0.0.1",
            "HALCYON_CACHE_SERVICE_HOST": "10.0.0.1", "HALCYON_CACHE_SERVICE_PORT_HTTP": "80",
            "HALCYON_CACHE_PORT": "tcp://10.0.0.1:80", "HALCYON_CACHE_PORT_80_TCP": "x",
            "HALCYON_SERVER_SERVICE_HOST": "10.0.0.1", "HALCYON_SERVER_PORT": "tcp://10.0.0.1:80",
            "SIGNATURE_KEYS": "aa",
        ])
        #expect(unknown == [])
        #expect(configuration == ImageServerConfiguration())
    }

    @Test(arguments: [
        "nonsense", "", "example.com", "ftp://example.com", "https://", "https://a b/",
        "https://user@example.com", "https://example.com?a", "https://example.com/#a", "//a", "/",
    ])
    func thePublicURLIsAURL(text: String) throws {
        let found = try faults { $0.publicURL = text }
        #expect(found.count == 1 && found[0].hasPrefix("publicURL: "), "\(found)")
        for good in ["http://example.com", "https://a.example:8443/a/b/", "http://[::1]:8080"] {
            #expect(try faults { $0.publicURL = good } == [])
        }
    }

    @Test(arguments: ["", " a", "a ", "é", "a\n", " "])
    func tokensAreWhatAFieldCanCarry(text: String) throws {
        let secret = try faults { $0.secret = text }
        #expect(secret.count == 1 && secret[0].hasPrefix("secret "), "\(secret)")
        let token = try faults { $0.operationsToken = text }
        #expect(token.count == 1 && token[0].hasPrefix("ops.token "), "\(token)")
    }

    @Test(arguments: [("127.0.0.1", 4), ("0.0.0.0", 8)])
    func keysAndSaltsHaveSoManyBytes(host: String, least: Int) throws {
        func faults(key: Int, salt: Int) throws -> [String] {
            try self.faults {
                $0.bind = [.tcp(host: host, port: 0)]
                $0.signature.keys = [String(repeating: "ab", count: key)]
                $0.signature.salts = [String(repeating: "cd", count: salt)]
            }
        }
        #expect(try faults(key: least, salt: least) == [])
        for count in [0, 1, least - 1] {
            #expect(
                try faults(key: count, salt: least) == [
                    "signature.keys: number 1 has \(count) bytes; at least \(least) are needed."
                ])
            #expect(try faults(key: least, salt: count).count == 1)
        }
    }

    /// What is taken, and what has one fault, in these words.
    @Test func settingsThatCannotBeMeantAreFaults() throws {
        let found = try faults {
            $0.signature.trusted = ["", "a/b"]
            $0.http.allowOrigin = ["*", "example.com", "https://example.com/"]
            $0.work.requestTimeout = .zero
        }
        #expect(found.count == 6, "\(found)")
        let rows: [((inout ImageServerConfiguration) -> Void, [String])] = [
            ({ _ in }, []),
            ({ $0.http.allowOrigin = ["https://example.com", "http://a:8080"] }, []),
            ({ $0.http.allowOrigin = ["*"] }, []),
            (
                {
                    $0.signature.isRequired = false
                    $0.bind = [.tcp(host: "0.0.0.0", port: 0)]
                }, ["URLs may be unsigned only where all of bind is loopback."]
            ),
            (
                { $0.sources.local.root = nil },
                ["Nothing can be served: set sources.http.allow or sources.local.root."]
            ), ({ $0.sources.local.root = "/" }, ["sources.local.root may not be /."]),
            ({ $0.cache.directory = "" }, ["cache.directory is empty."]),
        ]
        for (change, expected) in rows { #expect(try faults(change) == expected) }
    }

    @Test(arguments: ["/dev/null", "/dev/null/caches", "/proc/caches", "file"])
    func theFolderOfTheCachesCanBeWrittenTo(directory: String) throws {
        let folder = try TemporaryDirectory()
        try folder.write(Data("a file".utf8), to: "file")
        let path = directory.hasPrefix("/") ? directory : folder.file(directory).path
        let found = try faults { $0.cache.directory = path }
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.hasPrefix("cache.directory: \(path) cannot be written to: ") == true)
        let unused = try faults {
            $0.cache.directory = path
            $0.cache.sources.bytes = 0
            $0.cache.results.bytes = 0
        }
        #expect(unused == [])
    }

    @Test func tryingTheFolderOfTheCachesLeavesNothing() throws {
        let folder = try TemporaryDirectory()
        let found = try faults {
            $0.cache.directory = folder.file("a").appendingPathComponent("b").path
            $0.cache.sources.bytes = 0
        }
        #expect(found == [])
        let left = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path)
        #expect(!left.contains { $0.contains("probe") }, "\(left)")
    }

    @Test func printedSettingsCanBeReadAgainAndHideSecrets() throws {
        var configuration = ImageServerConfiguration()
        configuration.signature.keys = ["943b421c9eb07c83"]
        configuration.secret = "open sesame"
        configuration.limits.maxDPR = 1.5
        configuration.cache.negativeTTL = .milliseconds(2500)
        #expect(!configuration.json.contains("943b"))
        #expect(!configuration.json.contains("sesame"))
        var again = ImageServerConfiguration()
        try again.take(file: Data(configuration.json.utf8))
        again.signature = configuration.signature
        again.secret = configuration.secret
        #expect(again == configuration)
    }

    @Test(arguments: [
        ("127.0.0.1:8080", true), ("[::1]:0", true), ("localhost:80", true),
        ("unix:/run/a.sock", true), ("0.0.0.0:80", true), ("example.com:8080", true),
        ("8080", false), ("::1:80", false), ("a:70000", false), ("unix:", false), (":80", false),
    ])
    func addressesAreHostAndPortOrASocket(text: String, isOne: Bool) {
        #expect((ListenAddress(text) != nil) == isOne)
        #expect(ListenAddress(text).map { "\($0)" } ?? text == text)
    }

    @Test func allFaultsAreToldAtOnce() throws {
        let found = try faults {
            $0.signature.salts = []
            $0.signature.keys = ["xyz"]
            $0.bind = [.tcp(host: "0.0.0.0", port: 80), .tcp(host: "0.0.0.0", port: 80)]
            $0.http.errorBodies = .full
            $0.negotiation.formats = ["png"]
            $0.processing.presets = ["a=nonsense:1"]
            $0.sources.http.allow = ["https://user@example.com"]
            $0.sources.rewrites = ["("]
        }
        #expect(found.count == 8)
        for name in [
            "signature.keys", "twice", "errorBodies", "negotiation.formats", "Preset a",
            "sources.http.allow", "sources.rewrites", "not hexadecimal",
        ] { #expect(found.contains { $0.contains(name) }, "\(name)") }
    }

    @Test func onlyFieldsOfTheRequestAreHandedOn() throws {
        let found = try faults {
            $0.sources.http.forwardHeaders = [
                "X-Tenant", "host", "If-None-Match", "a b", "", "Accept-Encoding", "Cookie",
            ]
        }
        #expect(found.count == 5)
        #expect(found.allSatisfy { $0.hasPrefix("sources.http.forwardHeaders: ") })
        let secret = try faults {
            $0.sources.http.forwardHeaders = ["authorization"]
            $0.secret = "open sesame"
        }
        #expect(secret.count == 1 && secret[0].contains("secret"))
    }

    @Test func theFolderOfSourcesMayNotHoldTheCaches() throws {
        let found = try faults { $0.cache.directory = $0.sources.local.root.map { $0 + "/cache" } }
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("sources.local.root may not hold") == true)
    }

    @Test func whatADocumentOfIIIFCannotSayIsAFault() throws {
        let found = try faults {
            $0.iiif.isEnabled = true
            $0.iiif.tables = ["/no/such/file.json"]
            $0.iiif.rights = "https://example.org/mine"
            $0.iiif.seeAlso = ["https://example.org/more"]
        }
        for name in ["iiif.tables", "iiif.rights", "iiif.seeAlso"] {
            #expect(found.contains { $0.hasPrefix(name) }, "\(found)")
        }
    }

    @Test func aPictureThatCannotBeDecodedIsAFault() throws {
        let found = try faults {
            $0.watermark.picture.data = "aGVsbG8="
            $0.fallback.picture.path = "/no/such/file.png"
        }
        #expect(found.count == 2)
        #expect(found.contains { $0.hasPrefix("watermark.data: the picture cannot be decoded") })
        #expect(found.contains { $0.contains("fallback.path: the file /no/such/file.png") })
        let others = try faults {
            $0.watermark.picture = .init(path: "a", url: "b")
            $0.fallback.picture = .init(url: "https://example.com/a.png")
        }
        #expect(others.count == 2)
    }

    @Test func settingsOfWhatServersShareAreChecked() throws {
        let redis = try faults {
            $0.shared.redis.address = .tcp(host: "redis", port: 0)
            $0.shared.redis.user = "halcyon"
            $0.shared.redis.tlsRoots = "/no/such/file"
            $0.shared.redis.prefix = "a {b}"
        }
        #expect(
            redis == [
                "shared.redis.user needs shared.redis.password.",
                "shared.redis.tlsRoots: the file /no/such/file cannot be read.",
                "shared.redis.address names no port.",
                "shared.redis.prefix must be ASCII without spaces and braces.",
            ])
        let store = try faults {
            ($0.shared.s3.endpoint, $0.shared.s3.bucket) = ("ftp://store", "a/b")
            ($0.shared.s3.prefix, $0.shared.s3.secretKey) = ("a?", "key")
            $0.shared.s3.sessionToken = "token"
        }
        #expect(
            store == [
                "shared.s3.endpoint must be a URL such as https://s3.example.com.",
                "shared.s3.bucket must be a name of letters, digits and - . _",
                "shared.s3.prefix must be segments of letters, digits and - . _",
                "shared.s3.accessKey and shared.s3.secretKey need each other.",
                "shared.s3.sessionToken needs shared.s3.accessKey.",
            ])
        let limits = ConfigurationError(faults: [
            "shared.redis.timeout must be a number of seconds from 0.001 to 5."
        ])
        var configuration = ImageServerConfiguration()
        #expect(throws: limits) { try configuration.set("shared.redis.timeout", to: "6") }
    }

    @Test func signedPathsAreThoseOfOtherProgramsSigners() {
        var configuration = ImageServerConfiguration()
        configuration.requireSignatures()
        configuration.pathPrefix = "images/"
        let path = "/plain/local:///china.jpg"
        #expect(configuration.sign(path) == "/images/\(LiveServer.signature)\(path)")
    }
}
