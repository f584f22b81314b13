import Foundation
import Halcyon
import HalcyonPixels
import HalcyonStorage
import HalcyonWork
import NIOCore
import NIOFoundationCompat

/// A picture that was made, as it is sent.
final class MadePicture: Sendable, CacheCostCalculable {
    let body: ByteBuffer
    let format: ImageFormat

    init(body: ByteBuffer, format: ImageFormat) {
        self.body = body
        self.format = format
    }

    var cacheCost: Int { body.readableBytes + 512 }
}

/// Pictures that were made, in memory and on the disk, by a key that names all they were made of: so none
/// ever has to be taken back because its source has changed.
final class ResultCache: Sendable {
    private let memory: MemoryStorage.Backend<MadePicture>?
    private let files: FileStore?
    private let writes = DiskOperations()
    /// Larger ones would push too many others out.
    private let largest: Int
    private let onError: @Sendable (any Error) -> Void

    init(
        _ tier: ImageServerConfiguration.Tier, in directory: URL,
        onError: @escaping @Sendable (any Error) -> Void
    ) {
        self.onError = onError
        largest = tier.bytes / 20
        files = tier.bytes > 0 ? FileStore(tier, named: "results", in: directory) : nil
        guard tier.memoryBytes > 0 else {
            memory = nil
            return
        }
        var config = MemoryStorage.Config(totalCostLimit: tier.memoryBytes)
        config.expiration = .seconds(tier.maxAge / .seconds(1))
        memory = MemoryStorage.Backend(config: config)
    }

    /// Bytes in memory.
    var memoryBytes: Int { memory?.totalCacheCost() ?? 0 }

    /// A picture in memory.
    func remembered(_ key: String) -> MadePicture? { memory?.value(forKey: key) }

    /// A picture on the disk, which is in memory afterwards.
    func stored(_ key: String) async -> MadePicture? {
        guard let files else { return nil }
        do {
            let picture = try await DiskLane.reading.run {
                try files.value(
                    of: files.fileName(forKey: key), forKey: key, extending: .cacheTime
                ) { data in
                    MadePicture(body: ByteBuffer(data: data), format: ImageSniffer.format(of: data))
                }
            }
            if let picture { memory?.store(value: picture, forKey: key) }
            return picture
        } catch {
            onError(error)
            return nil
        }
    }

    /// Keeps a picture: in memory at once, on the disk a little later.
    func keep(_ picture: MadePicture, _ data: Data, for key: String) {
        memory?.store(value: picture, forKey: key)
        guard let files, data.count <= largest else { return }
        let name = files.fileName(forKey: key)
        _ = writes.enqueue(.file(name)) { [onError] finish in
            DiskLane.writing.submit {
                do {
                    let file = try files.newFile(
                        name, forKey: key, expiration: nil, overwriting: true
                    ) { data }
                    if let file { try files.store(file) }
                } catch {
                    onError(error)
                }
                finish(())
            }
        }
    }

    /// Waits for all that is to be on the disk.
    func finishWriting() async {
        await writes.finishAll()
    }

    /// Bytes on the disk.
    func totalSize() async -> Int {
        guard let files else { return 0 }
        return await DiskLane.reading.run { (try? Int(files.totalSize())) ?? 0 }
    }
}
