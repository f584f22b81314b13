import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

/// A cache with a third level that several machines share.
@Suite struct SharedCacheTests {
    private let machines: SharedMachines

    init() async throws { machines = try await SharedMachines() }

    @Test func memoryIsAskedBeforeTheDiskAndTheDiskBeforeOthers() async throws {
        #expect(try await machines.get(machines.one).type == .none)
        let (two, table) = (machines.two, machines.table)
        let asked = table.count(.data)
        #expect(try await machines.get(two).type == .disk)
        #expect(table.count(.data) == asked + 1)
        #expect(try await machines.get(two).type == .memory)
        two.cache.clearMemoryCache()
        #expect(try await machines.get(two) == .init(3, .disk))
        #expect(table.count(.data) == asked + 1)
        #expect(machines.origin.requestCount == 1)
    }

    @Test func aPictureIsStoredOnceByWhoHasLoadedIt() async throws {
        for machine in [machines.one, machines.two, machines.one] {
            _ = try await machines.get(machine)
            machine.cache.clearMemoryCache()
        }
        #expect(machines.table.count(.store) == 1)
        #expect(machines.table.objects.value.count == 1)
        let name = try #require(machines.table.objects.value.keys.first)
        #expect(name.count == 64 && name.allSatisfy(\.isHexDigit))
    }

    @Test(arguments: 0..<6)
    func whatIsDamagedIsLoadedAndStoredAnew(kind: Int) async throws {
        _ = try await machines.get(machines.one)
        let (name, good) = try #require(machines.table.objects.value.first)
        var damaged = good
        switch kind {
        case 0: damaged = Data()
        case 1: damaged.removeLast()
        case 2: damaged[damaged.count - 1] ^= 1
        case 3: damaged[7] = UInt8(ascii: "9")
        case 4: damaged.replaceSubrange(8..<12, with: [255, 255, 255, 255])
        default: damaged[20] ^= 1
        }
        machines.table.objects.update { [damaged] in $0[name] = damaged }
        #expect(try await machines.get(machines.two) == .init(3, .none))
        #expect(machines.origin.requestCount == 2)
        let stored = machines.table.objects.value[name].flatMap { SharedFile($0) }
        #expect(stored?.bytes == SharedFile(good)?.bytes)
    }

    @Test func aStorageThatFailsFailsNoRequest() async throws {
        machines.table.isBroken.set(true)
        #expect(try await machines.get(machines.one) == .init(3, .none))
        #expect(try await machines.get(machines.two) == .init(3, .none))
        try await machines.one.cache.removeImage(forKey: machines.url.cacheKey)
        #expect(try await machines.get(machines.one) == .init(3, .none))
        #expect(machines.table.objects.value.isEmpty)
    }

    @Test func whatIsRemovedFromDiskIsRemovedForAll() async throws {
        _ = try await machines.get(machines.one)
        try await machines.one.cache.removeImage(forKey: machines.url.cacheKey, fromDisk: false)
        #expect(machines.table.count(.remove) == 0)
        try await machines.one.cache.removeImage(forKey: machines.url.cacheKey)
        #expect(try await machines.get(machines.two).type == .none)
        #expect(machines.origin.requestCount == 2)
    }

    @Test func clearingConcernsOneMachine() async throws {
        _ = try await machines.get(machines.one)
        await machines.one.cache.clearCache()
        #expect(try await machines.get(machines.one).type == .disk)
        #expect(machines.origin.requestCount == 1)
    }

    @Test func whatAProgramStoresOthersFind() async throws {
        try await machines.one.cache.store(testImage(width: 7), forKey: "user-42")
        // What is being stored is not waited for by other machines.
        await machines.table.objects.wait { !$0.isEmpty }
        let found = try await machines.two.cache.retrieveImage(forKey: "user-42")
        #expect(found.cacheType == .disk && found.image?.pixelSize.width == 7)
        #expect(try await machines.two.cache.retrieveImageInDiskCache(forKey: "user-43") == nil)
    }

    @Test func cachesOfOtherNamesHaveOtherFiles() async throws {
        _ = try await machines.get(machines.one)
        let folder = try TemporaryDirectory()
        let other = try ImageCache(
            name: "other", cacheDirectoryURL: folder.url, shared: machines.table)
        #expect(try await machines.get(machines.two, [.targetCache(other)]).type == .none)
        #expect(machines.table.objects.value.count == 2)
    }

    @Test func anotherPictureIsMadeOfASharedOriginal() async throws {
        let small = DownsamplingImageProcessor(size: CGSize(width: 2, height: 2))
        let blurred = BlurImageProcessor(blurRadius: 2)
        _ = try await machines.get(machines.one, [.processor(small), .cacheOriginalImage])
        #expect(machines.table.objects.value.count == 2)
        #expect(try await machines.get(machines.two, [.processor(small)]).type == .disk)
        #expect(try await machines.get(machines.two, [.processor(blurred)]) == .init(3, .none))
        #expect(machines.origin.requestCount == 1)
        #expect(machines.table.objects.value.count == 3)
    }

    @Test func optionsThatPassOverTheDiskPassOverOthersToo() async throws {
        _ = try await machines.get(machines.one)
        let asked = machines.table.count(.data)
        for option in [KingfisherOptionsInfoItem.forceRefresh, .fromMemoryCacheOrRefresh] {
            machines.two.cache.clearMemoryCache()
            #expect(try await machines.get(machines.two, [option]).type == .none)
        }
        #expect(machines.table.count(.data) == asked)
    }

    @Test func whatIsOnlyWantedFromTheCacheMayComeFromOthers() async throws {
        await #expect(throws: KingfisherError.self) {
            try await machines.get(machines.two, [.onlyFromCache])
        }
        _ = try await machines.get(machines.one)
        #expect(try await machines.get(machines.two, [.onlyFromCache]) == .init(3, .disk))
        #expect(machines.origin.requestCount == 1)
    }

    @Test func whatIsKeptInMemoryOnlyIsNotShared() async throws {
        _ = try await machines.get(machines.one, [.cacheMemoryOnly])
        #expect(machines.table.objects.value.isEmpty)
        _ = try await machines.get(machines.one, [.diskCacheExpiration(.expired), .forceRefresh])
        #expect(machines.table.objects.value.isEmpty)
    }

    @Test func whatHasExpiredIsNotUsed() async throws {
        _ = try await machines.get(machines.one)
        machines.table.objects.update { objects in
            objects = objects.mapValues { data in
                SharedFile(
                    bytes: SharedFile(data)?.bytes ?? Data(),
                    expires: Date(timeIntervalSinceNow: -1), origin: .unknown
                ).data
            }
        }
        #expect(try await machines.get(machines.two).type == .none)
    }

    @Test func manyWhoWantAPictureFetchItOnce() async throws {
        let table = SharedTable(isHeld: true)
        let machines = try await SharedMachines(table: table)
        let file = SharedFile(bytes: FreshnessFixture.png(9), expires: nil, origin: .unknown)
        let level = SharedLevel(table, cacheName: "test")
        table.objects.update { [url = machines.url] in
            $0[level.name(of: ImageKey(url.cacheKey))] = file.data
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await machines.get(machines.two).width } }
            await table.gate.waitForWaiters()
            table.gate.open()
            for try await width in group { #expect(width == 9) }
        }
        #expect(table.count(.data) == 1)
        #expect(machines.origin.requestCount == 0)
    }

    @Test func aCallerIsToldOfTheTaskWhenOthersHaveNothing() async throws {
        let table = SharedTable(isHeld: true)
        let machines = try await SharedMachines(table: table)
        let tasks = Recorder<Bool>()
        let results = Recorder<CacheType?>()
        let task = machines.two.manager.retrieveImage(
            with: machines.url, downloadTaskUpdated: { tasks.record($0 != nil) }
        ) { results.record(try? $0.get().cacheType) }
        #expect(task == nil)
        table.gate.open()
        #expect(await results.waitFor(count: 1) == [CacheType.none])
        #expect(tasks.events == [true])
    }

    @Test func aPrefetcherTakesFromOthers() async throws {
        _ = try await machines.get(machines.one)
        let done = Recorder<[Int]>()
        let prefetcher = ImagePrefetcher(
            urls: [machines.url],
            options: [
                .targetCache(machines.two.cache), .downloader(machines.two.manager.downloader),
            ]
        ) { done.record([$0.count, $1.count, $2.count]) }
        prefetcher.start()
        #expect(await done.waitFor(count: 1) == [[1, 0, 0]])
        #expect(machines.origin.requestCount == 1)
        await machines.two.cache.operations.finishAll()
        #expect(machines.two.cache.imageCachedType(forKey: machines.url.cacheKey) == .disk)
    }

    @Test(arguments: [
        SharedFile.Origin.unknown, .program,
    ])
    func aFileIsReadAsItWasWritten(origin: SharedFile.Origin) throws {
        for size in [0, 1, 70_000] {
            let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            for expires in [nil, Date(timeIntervalSince1970: 1_900_000_000.5)] {
                let file = SharedFile(bytes: bytes, expires: expires, origin: origin)
                let read = try #require(SharedFile(file.data))
                #expect(read == file)
                // A part of other data counts from elsewhere.
                #expect(SharedFile((Data([1, 2]) + file.data).dropFirst(2)) == file)
            }
        }
    }
}
