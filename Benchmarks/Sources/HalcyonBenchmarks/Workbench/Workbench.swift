import Foundation

/// What benchmarks share: folders, photographs, the origin server and the peers' processes. Each is
/// made when first asked for.
actor Workbench {
    /// For temporary files, on the file system of the repository.
    nonisolated let scratch: URL
    nonisolated let photographs: URL

    private let python: URL
    private let peerProgram: URL
    private let photoProgram: URL
    private let alone: Bool
    private var workers: [PeerLibrary: PeerWorker] = [:]
    private var unavailable: Set<PeerLibrary> = []
    private var runningOrigin: Origin?
    private var runningSecureOrigin: SecureOrigin?

    /// - Parameter alone: Whether there are no peers.
    init(folder: URL, peerPrograms: URL, alone: Bool) throws {
        self.alone = alone
        python = folder.appending(path: "python/bin/python")
        peerProgram = peerPrograms.appending(path: "worker.py")
        photoProgram = peerPrograms.appending(path: "photos.py")
        photographs = folder.appending(path: "photographs")
        let scratches = folder.appending(path: "scratch")
        scratch = scratches.appending(path: "\(ProcessInfo.processInfo.processIdentifier)")
        try Self.removeLeftovers(in: scratches)
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    }

    /// Removes the folders of runs that were interrupted; each is named after its process.
    private static func removeLeftovers(in scratches: URL) throws {
        guard FileManager.default.fileExists(atPath: scratches.path) else { return }
        for folder in try FileManager.default.contentsOfDirectory(
            at: scratches, includingPropertiesForKeys: nil)
        where !FileManager.default.fileExists(atPath: "/proc/\(folder.lastPathComponent)") {
            try FileManager.default.removeItem(at: folder)
        }
    }

    /// This program.
    static let executable = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()

    /// A photograph made by `photographs.py`.
    nonisolated func photograph(_ name: String) throws -> URL {
        let file = photographs.appending(path: name)
        guard FileManager.default.fileExists(atPath: file.path) else {
            throw BenchmarkError("\(file.path) is missing; scripts/benchmark makes it")
        }
        return file
    }

    /// An empty folder of its own.
    nonisolated func makeFolder() throws -> URL {
        let folder = scratch.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// Those of the libraries that are there; the others are named on standard error, once.
    func peers(_ libraries: [PeerLibrary]) async -> [PeerLibrary: PeerWorker] {
        if alone { return [:] }
        for library in libraries where workers[library] == nil && !unavailable.contains(library) {
            do {
                workers[library] = try await PeerWorker(
                    library, python: python, program: peerProgram)
            } catch {
                unavailable.insert(library)
                Progress.say("Without \(library.rawValue): \(error)")
            }
        }
        return workers.filter { libraries.contains($0.key) }
    }

    /// A process of `library` that nothing else has used; the caller closes it.
    func freshPeer(_ library: PeerLibrary) async throws -> PeerWorker {
        try await PeerWorker(library, python: python, program: peerProgram)
    }

    /// The program of Python that downloads and reduces photos; the caller closes it.
    func photoPeer() async throws -> PeerWorker {
        try await PeerWorker(python: python, program: photoProgram, arguments: [])
    }

    /// The origin server, a process of its own, which serves the photographs.
    func origin() async throws -> Origin {
        if let runningOrigin { return runningOrigin }
        let origin = try await Origin(folder: photographs)
        runningOrigin = origin
        return origin
    }

    /// nginx with TLS, which serves the photographs.
    func secureOrigin() async throws -> SecureOrigin {
        if let runningSecureOrigin { return runningSecureOrigin }
        let origin = try await SecureOrigin(serving: photographs.absoluteURL, in: makeFolder())
        runningSecureOrigin = origin
        return origin
    }

    /// Ends all processes and removes the temporary files.
    func close() async {
        for worker in workers.values { await worker.close() }
        await runningOrigin?.close()
        await runningSecureOrigin?.close()
        do {
            try FileManager.default.removeItem(at: scratch)
        } catch {
            Progress.say("\(scratch.path) stays: \(error)")
        }
    }
}
