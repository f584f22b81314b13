import Foundation
import HalcyonTestKit
import HalcyonWork

/// Clients that ask one request after the other on connections that they keep until an answer says that it is the
/// last, and never ask twice.
///
/// One that finds no server waits for the next, which the test tells of.
final class KeptConnections: Sendable {
    private let port: Int
    private let answers: Observed<[Int]>
    private let servers = Observed(0)
    private let isOver = Locked(false)
    private let faults = Locked<[String]>([])

    init(port: Int, clients: Int) {
        self.port = port
        answers = Observed(Array(repeating: 0, count: clients))
    }

    /// Has the clients ask for as long as `body` runs.
    ///
    /// - Returns: The answers that were not as they should be.
    func asking(while body: () async throws -> Void) async throws -> [String] {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in answers.value.indices { group.addTask { await self.ask(client) } }
            defer { isOver.set(true) }
            try await body()
        }
        return faults.value
    }

    /// Waits until each client has had so many more answers.
    func wait(forAnswers count: Int) async {
        let before = answers.value
        await answers.wait { zip($0, before).allSatisfy { $0 >= $1 + count } }
    }

    /// Tells clients that another server listens.
    func noteServer() { servers.update { $0 += 1 } }

    private func ask(_ client: Int) async {
        var connection: RawClient?
        var number = 0
        while !isOver.value {
            let known = servers.value
            guard let open = connection ?? (try? RawClient(port: port)) else {
                await servers.wait { $0 > known }
                continue
            }
            number += 1
            // Most are known.
            let width = number.isMultiple(of: 10) ? 20 + number / 10 % 500 : 20
            let answer = await open.answer(to: "/_/w:\(width)/plain/local:///china.jpg")
            if answer?.status != 200 { faults.withLock { $0.append("\(answer?.status ?? 0)") } }
            answers.update { $0[client] += 1 }
            connection = answer?.isLast == false ? open : nil
        }
    }
}

extension RawClient {
    /// Sends a request for an answer that is read elsewhere, if at all.
    func get(_ target: String) { send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n") }

    /// Asks, and reads the answer, for a connection that stays; `nil` for one that is not whole.
    func answer(to target: String) async -> WireAnswer? {
        get(target)
        return await answer()
    }

    /// The next answer, likewise.
    func answer() async -> WireAnswer? {
        WireAnswer.all(in: await read { !WireAnswer.all(in: $0).isEmpty }.bytes).first
    }
}
