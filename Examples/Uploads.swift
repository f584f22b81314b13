import Foundation
import Halcyon
import HalcyonServer
import Hummingbird
import NIOCore

// guide: server/thumbnail
/// Nothing of it is cached: an upload comes once.
func thumbnail(of upload: Data, size: Int) async throws -> Data {
    let size = CGSize(width: min(max(size, 1), 4000), height: min(max(size, 1), 4000))
    let image = try await KingfisherManager.shared.retrieveImage(
        with: .provider(RawImageDataProvider(data: upload, cacheKey: UUID().uuidString)),
        options: [
            .processor(DownsamplingImageProcessor(size: size)),
            .decodingLimits(DecodingLimits(maximumPixelCount: 40_000_000)),
            .cacheMemoryOnly, .memoryCacheExpiration(.expired),
        ]
    ).image
    return try image.kf.data(format: .WebP, options: ImageEncodingOptions(quality: 0.8))
}
// end

/// A route that answers a picture with its thumbnail:
///
///     curl --data-binary @bird.jpg 'http://127.0.0.1:8080/thumbnail?size=400' > small.webp
func addThumbnails(to router: Router<BasicRequestContext>) {
    router.post("thumbnail") { request, _ in
        let upload = try await request.body.collect(upTo: 20 << 20)
        let size = request.uri.queryParameters.get("size", as: Int.self) ?? 400
        do {
            let data = try await thumbnail(of: Data(upload.readableBytesView), size: size)
            return Response(
                status: .ok, headers: [.contentType: "image/webp"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
        } catch let error as KingfisherError {
            throw HTTPError(.unprocessableContent, message: error.localizedDescription)
        }
    }
}

/// Uploads that are kept, whose thumbnails are made by the image server: with its caches, its limits, its answers
/// in the best format for each browser, and one making of a picture that many ask for at once.
///
///     curl -i --data-binary @bird.jpg http://127.0.0.1:8080/pictures
///     curl 'http://127.0.0.1:8080/pictures/NAME?size=400' > small.webp
struct UploadServer {
    let images: ImageServer
    private let folder: URL

    init(
        folder: URL, configuration: ImageServerConfiguration = ImageServerConfiguration()
    ) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var configuration = configuration
        configuration.sources.local.root = folder.path
        // The routes below are all there is: nobody else says what is made of a picture.
        configuration.signature.isRequired = false
        // An upload never changes.
        configuration.http.ttl = .seconds(31_536_000)
        images = try ImageServer(configuration: configuration)
    }

    func addRoutes(to router: Router<BasicRequestContext>) {
        router.post("pictures") { [folder] request, context in
            let upload = try await request.body.collect(upTo: 20 << 20)
            guard Image(data: Data(upload.readableBytesView)) != nil else {
                throw HTTPError(.unprocessableContent, message: "This is no picture")
            }
            let name = UUID().uuidString
            let path = folder.appendingPathComponent(name).path
            try await FileIO().writeFile(buffer: upload, path: path, context: context)
            return Response(status: .created, headers: [.location: "/pictures/\(name)"])
        }
        router.get("pictures/:name") { [images] request, context in
            let name = try context.parameters.require("name", as: UUID.self)
            var plan = ImagePlan(source: "local:///\(name.uuidString)")
            plan.options.width = request.uri.queryParameters.get("size", as: Int.self) ?? 400
            plan.options.height = plan.options.width
            return await images.response(for: plan, to: request)
        }
    }

    static func run(folder: String) async -> Int32 {
        do {
            let server = try UploadServer(folder: URL(fileURLWithPath: folder))
            let router = Router()
            addThumbnails(to: router)
            server.addRoutes(to: router)
            try await Application(router: router, services: [server.images]).runService()
            return 0
        } catch {
            complain(error.localizedDescription)
            return 1
        }
    }
}
