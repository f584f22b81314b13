import Foundation
import Vips

/// The target that `HALCYON_FUZZ_TARGET` names.
private let chosen = FuzzTarget.named(ProcessInfo.processInfo.environment["HALCYON_FUZZ_TARGET"])

/// Called by libFuzzer before anything else: writes the seeds into the folder `HALCYON_FUZZ_SEEDS` and ends, or
/// prints the names of all targets.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ count: UnsafeMutablePointer<Int32>?, _ arguments: UnsafeMutableRawPointer?
) -> Int32 {
    let environment = ProcessInfo.processInfo.environment
    guard let chosen else {
        print(FuzzTarget.all.map(\.name).joined(separator: "\n"))
        exit(environment["HALCYON_FUZZ_TARGET"] == nil ? 0 : 2)
    }
    Vips.start()
    guard let folder = environment["HALCYON_FUZZ_SEEDS"] else { return 0 }
    do {
        for (index, seed) in try chosen.seeds().enumerated() {
            try seed.write(to: URL(fileURLWithPath: "\(folder)/seed-\(index)"))
        }
        exit(0)
    } catch {
        print("The seeds of \(chosen.name) could not be made: \(error)")
        exit(1)
    }
}

// SwiftPM gives the program's beginning this name, so that libFuzzer's own is not linked.
@_cdecl("Fuzz_main")
public func start(
    _ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
    var (count, arguments) = (count, arguments)
    return runDriver(&count, &arguments, testOneInput)
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let data = bytes.map { Data(bytes: $0, count: count) } ?? Data()
    // Why bytes are refused is of no interest.
    try? chosen?.run(data)
    Vips.endJob()
    return 0
}
