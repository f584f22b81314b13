/// Asks servers how they are.
public enum ServerHealth {
    /// Whether the operations address of a server says within 2 seconds that it is ready.
    public static func isReady(at address: ListenAddress) async -> Bool {
        let client = OperationsClient(address: address, patience: .seconds(2))
        // Whatever went wrong, it is not ready.
        return (try? await client.answer(to: "/ready", limit: 1 << 20))?.status == 200
    }
}
