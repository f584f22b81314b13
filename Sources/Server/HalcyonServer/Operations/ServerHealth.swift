/// Asks servers how they are.
public enum ServerHealth {
    /// Whether the operations address of a server says in time that it is ready.
    public static func isReady(
        at address: ListenAddress, within patience: Duration = .seconds(2)
    ) async -> Bool {
        let client = OperationsClient(address: address, patience: patience)
        // Whatever went wrong, it is not ready.
        return (try? await client.answer(to: "/ready", limit: 1 << 20))?.status == 200
    }
}
