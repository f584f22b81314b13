import HalcyonCluster
import Testing

/// Purges while several nodes make a picture, with a store of bytes: every order of events.
@Suite struct PurgeWorldTests {
    @Test(arguments: [false, true], [3, 2])
    func onAllWaysNothingThatWasPurgedIsSentOrCanBeReached(isLarge: Bool, nodes: Int) {
        // Two nodes stand more than three, of which there are many ways.
        let times = nodes == 3 ? 1 : 2
        let result = WorldExploration(
            PurgeWorld(nodes: nodes, purges: times, faults: times, isLarge: isLarge))
        print("\(nodes) nodes, \(times) purges and faults: \(result.states) states")
        #expect(nodes == 2 || result.states > 10_000)
        #expect(result.ends > 0 && result.stuck == 0)
        #expect(result.violations.isEmpty, "\(result.violations)")
    }

    @Test(
        arguments: [
            (PurgeWorld.Flaw.takesRecordsOfAnyGeneration, false, "a purged version was sent"),
            (.takesObjectsOfAnyGeneration, true, "a purged version was sent"),
            (.marksAfterItsAnswer, false, "a purged version can be reached"),
            (.publishesWhatIsOfAnOldSource, true, "a purged version can be reached"),
            (.storesWithoutALease, true, "an object of a lease that had passed"),
        ] as [(PurgeWorld.Flaw, Bool, String)])
    func whatIsDoneWrongIsNoticed(flaw: PurgeWorld.Flaw, isLarge: Bool, what: String) {
        let result = WorldExploration(
            PurgeWorld(nodes: 2, purges: 1, faults: 1, isLarge: isLarge, flaw: flaw))
        #expect(result.violations.contains(what), "\(result.violations)")
    }
}
