// Optimised code of Swift 6.3.1 loses the first part of a tuple that leaves the closure of a task from a `do` whose
// result is awaited, or from its `catch`: fewer results are told apart than there are.
//
// right: 45 5

struct Failure: Error {}

func value(_ index: Int) async throws -> Int {
    if index % 10 == 9 { throw Failure() }
    return index
}

func count(_ count: Int) async throws -> (results: Int, failures: Int) {
    try await withThrowingTaskGroup(of: (Int, Result<Int, any Error>).self) { group in
        for index in 0..<count {
            group.addTask {
                do {
                    return (index, .success(try await value(index)))
                } catch {
                    return (index, .failure(error))
                }
            }
        }
        var results: [Int: Int] = [:]
        var failures = 0
        for try await (index, result) in group {
            switch result {
            case .success(let value): results[index] = value
            case .failure: failures += 1
            }
        }
        return (results.count, failures)
    }
}

let (results, failures) = try await count(50)
print(results, failures)
