import HalcyonCluster
import Testing

/// Purges while several nodes make a picture, with a store of bytes: every order of events.
@Suite struct PurgeWorldTests {
    @Test(arguments: [false, true])
    func onAllWaysOfThreeNodesNothingThatWasPurgedIsSentOrCanBeReached(isLarge: Bool) {
        let result = WorldExploration(
            PurgeWorld(nodes: 3, purges: 1, faults: 1, isLarge: isLarge))
        print("three nodes, one purge, one fault: \(result.states) states, \(result.ends) ends")
        #expect(result.states > 10_000)
        #expect(result.ends > 0)
        #expect(result.violations.isEmpty, "\(result.violations)")
        #expect(result.stuck == 0)
    }

    @Test(arguments: [false, true])
    func twoNodesStandTwoPurgesAndTwoFaults(isLarge: Bool) {
        let result = WorldExploration(
            PurgeWorld(nodes: 2, purges: 2, faults: 2, isLarge: isLarge))
        print("two nodes, two purges, two faults: \(result.states) states, \(result.ends) ends")
        #expect(result.violations.isEmpty, "\(result.violations)")
        #expect(result.stuck == 0)
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
