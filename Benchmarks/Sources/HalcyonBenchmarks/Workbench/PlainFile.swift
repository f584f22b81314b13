import Foundation
import Glibc

/// Reading and writing a file with nothing around the system calls.
enum PlainFile {
    static func read(_ path: String) throws -> Data {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw failure("open", path) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure("fstat", path) }

        let count = Int(status.st_size)
        guard let memory = malloc(count) else { throw failure("malloc", path) }
        guard Glibc.read(file, memory, count) == count else {
            free(memory)
            throw failure("read", path)
        }
        return Data(bytesNoCopy: memory, count: count, deallocator: .free)
    }

    static func write(_ data: Data, to path: String) throws {
        let temporary = path + ".new"
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw failure("open", temporary) }
        defer { close(file) }
        let written = data.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        guard written == data.count else { throw failure("write", temporary) }
        guard rename(temporary, path) == 0 else { throw failure("rename", path) }
    }

    private static func failure(_ call: String, _ path: String) -> BenchmarkError {
        BenchmarkError("\(call) \(path): \(String(cString: strerror(errno)))")
    }
}
