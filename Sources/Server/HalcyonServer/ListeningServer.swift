import HalcyonStorage
import HalcyonWork
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// An image server that listens, until it is told to stop.
///
/// ```swift
/// let listening = try await ListeningServer.start(server)
/// print("listening on", listening.ports)
/// await listening.stop()
/// ```
public final class ListeningServer: Sendable {
    /// The ports of the public listeners, in the configuration's order; 0 for sockets of the file system.
    public let ports: [Int]
    /// The port of the operations listener, if there is one.
    public let operationsPort: Int?

    private let server: ImageServer
    private let operationsClients: ClientRegistry
    private let group: ServiceGroup
    private let ended: OneShot<Result<Void, any Error>>
    private let task: Task<Void, Never>

    /// Starts all listeners and returns when requests can be sent to them.
    /// - Throws: `ListenError` for an address that is in use, for example.
    public static func start(_ server: ImageServer) async throws -> ListeningServer {
        try await ListeningServer(server)
    }

    private init(_ server: ImageServer) async throws {
        self.server = server
        let configuration = server.configuration
        let clients = server.clients
        let publicPorts = configuration.bind.map { _ in OneShot<Result<Int, any Error>>() }
        var services: [any Service] = try zip(configuration.bind, publicPorts).map {
            try Listener($0, of: "bind", mode: configuration.bindMode, port: $1) {
                bound, onListening in
                ServerApplication.make(
                    bound, configuration, clients: clients, logger: server.logger,
                    time: server.time, onListening: onListening,
                    refusal: server.lifecycle.refusal, answer: server.answer)
            }
        }
        let operationsPort = OneShot<Result<Int, any Error>>()
        let operationsClients = ClientRegistry()
        self.operationsClients = operationsClients
        // Whoever asks how the server is does not wait for its clients.
        let operationsLoop = configuration.operationsBind.map { _ in
            MultiThreadedEventLoopGroup(numberOfThreads: 1)
        }
        if let address = configuration.operationsBind, let operationsLoop {
            services.append(
                try Listener(
                    address, of: "ops.bind", mode: configuration.bindMode, port: operationsPort
                ) { bound, onListening in
                    ServerApplication.make(
                        bound, configuration, on: operationsLoop, clients: operationsClients,
                        logger: server.logger, time: server.time, onListening: onListening,
                        refusal: server.lifecycle.refusal,
                        answer: server.operations.answerAtOwnAddress)
                })
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                // Listeners that are cancelled log that as an error.
                services: services.map {
                    .init(
                        service: $0, successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .gracefullyShutdownGroup)
                }, logger: server.logger.quiet))
        self.group = group
        let ended = OneShot<Result<Void, any Error>>()
        self.ended = ended
        task = Task {
            let result: Result<Void, any Error>
            do {
                try await group.run()
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await server.stores.results.finishWriting()
            // Nothing is on it any longer; what it says matters to nobody.
            try? await operationsLoop?.shutdownGracefully()
            ended.give(result)
        }
        let cleaning = Task(priority: .background) { [cleaning = server.stores.cleaning] in
            await cleaning.runFromTimeToTime()
        }
        ended.whenGiven { result in
            cleaning.cancel()
            let error: any Error =
                if case .failure(let error) = result { error } else { CancellationError() }
            for port in publicPorts + [operationsPort] { port.give(.failure(error)) }
        }
        do {
            var ports: [Int] = []
            for port in publicPorts { ports.append(try await port.value.get()) }
            self.ports = ports
            self.operationsPort =
                configuration.operationsBind == nil ? nil : try await operationsPort.value.get()
        } catch {
            // The clients of the other listeners.
            clients.cutOff()
            operationsClients.cutOff()
            _ = await ended.value
            throw error
        }
        await CodecWarmUp.finish()
        server.state.enter(.ready)
    }

    /// Ends the server: it says that it is not ready, waits for as long as the configuration says, takes no
    /// more connections, and lets requests under way end.
    ///
    /// - Returns: Whether all of them have ended by themselves in the time they have for it.
    @discardableResult
    public func stop() async -> Bool {
        let drain = server.configuration.drain
        server.state.enter(.draining)
        // A cancelled wait is over: then it is time to end at once.
        try? await server.time.sleep(for: drain.delay)
        await group.triggerGracefulShutdown()
        let timer = Task { [task, server, operationsClients] in
            try await server.time.sleep(for: drain.timeout)
            server.state.endAllRequests()
            task.cancel()
            server.clients.cutOff()
            operationsClients.cutOff()
        }
        _ = await ended.value
        timer.cancel()
        // Whether the time was over first.
        if case .success = await timer.result { return false }
        return true
    }

    /// Waits until the server has ended, for whatever reason.
    public func waitUntilEnded() async throws { try await ended.value.get() }
}

private struct Listener: Service {
    typealias Making =
        (BindAddress, _ onListening: @escaping @Sendable (any Channel) async -> Void) ->
        any Service

    private let address: ListenAddress
    private let setting: String
    private let port: OneShot<Result<Int, any Error>>
    private let application: any Service
    /// Given when the application listens where it may not.
    private let trouble = OneShot<ListenError>()

    /// - Parameters:
    ///   - setting: The setting that has the address.
    ///   - mode: The permissions of a socket of the file system.
    ///   - port: Given the port when there is one, 0 for a socket of the file system, or the
    ///     failure to listen.
    init(
        _ address: ListenAddress, of setting: String, mode: SocketMode,
        port: OneShot<Result<Int, any Error>>, make: Making
    ) throws(ListenError) {
        self.address = address
        self.setting = setting
        self.port = port
        switch address {
        case .tcp(let host, let number):
            application = make(.hostname(host, port: number)) { channel in
                port.give(.success(channel.localAddress?.port ?? 0))
            }
        case .unix(let path):
            let file: SocketFile
            do throws(ListenError) {
                file = try SocketFile(path)
            } catch {
                throw error.of(setting)
            }
            let trouble = trouble
            application = make(.unixDomainSocket(path: file.boundPath)) { channel in
                let result = await DiskLane.reading.run {
                    Result { () throws(ListenError) in try file.publish(mode: mode) }
                }
                switch result {
                case .success:
                    channel.closeFuture.whenComplete { _ in file.remove() }
                    port.give(.success(0))
                case .failure(let error):
                    trouble.give(error)
                    channel.close(promise: nil)
                }
            }
        }
    }

    func run() async throws {
        do {
            try await application.run()
        } catch {
            guard trouble.isGiven || !(port.isGiven || error is CancellationError) else {
                throw error
            }
            throw await failure(error)
        }
        if trouble.isGiven { throw await failure(CancellationError()) }
    }

    /// Returns the failure to listen, after telling it as that of the port.
    private func failure(_ error: any Error) async -> ListenError {
        let reason = trouble.isGiven ? await trouble.value : ListenError(address, error)
        let failure = reason.of(setting)
        port.give(.failure(failure))
        return failure
    }
}
