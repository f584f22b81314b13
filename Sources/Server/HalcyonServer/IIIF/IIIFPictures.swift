import Halcyon
import HalcyonServerURLs
import HalcyonWork

/// The cached header of a source, so that the file is not read for each tile of it.
struct SourceHeader: CacheCostCalculable {
    let size: Dimensions
    var cacheCost: Int { 1 }

    /// Returns a cache of up to 10,000 headers, each for an hour after its last use.
    static func memory(_ time: TimeSource) -> MemoryStorage.Backend<SourceHeader> {
        var config = MemoryStorage.Config(totalCostLimit: 0)
        config.countLimit = 10_000
        config.expiration = .seconds(3600)
        return MemoryStorage.Backend(config: config, now: time.expirationDate)
    }
}

struct IIIFPictures: Sendable {
    let service: IIIFService
    let rules: PictureRules
    let sources: SourceFinder
    let failures: KnownFailures
    let headers: MemoryStorage.Backend<SourceHeader>

    /// Returns the source of an identifier, and what its header says.
    func opened(
        _ identifier: IIIFIdentifier, for asker: SourceAsker, until ending: Ending
    ) async throws(Failure) -> (FoundSource, SourceHeader) {
        let source = try await service.find(identifier, in: sources, for: asker, until: ending)
        let key = "\(source.key)\n\(source.validator)"
        if let known = headers.value(forKey: key) { return (source, known) }
        if let failure = failures[key] { throw failure }
        let (data, _) = try await sources.bytes(of: source, until: ending)
        let limits = rules.decodingLimits
        let result = await DecodingPool.shared.run { () -> Result<SourceHeader, Failure> in
            do {
                let image = try Image.decoding(data, options: ImageCreatingOptions(limits: limits))
                return .success(SourceHeader(size: Dimensions(image.pixelSize)))
            } catch let error as ImageCodingError {
                return .failure(Failure(error))
            } catch {
                return .failure(Failure(.sourceDamaged, "The source cannot be read"))
            }
        }
        if case .failure(let failure) = result {
            failures.note(failure, for: key) { source.isPurged() }
        }
        let header = try result.get()
        if !source.isPurged() { headers.store(value: header, forKey: key) }
        return (source, header)
    }
}
