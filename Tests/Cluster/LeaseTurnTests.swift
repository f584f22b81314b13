import HalcyonCluster
import Testing

/// One value for several nodes: every order of events, with some that go wrong.
@Suite struct LeaseTurnTests {
    /// What was seen on all ways from a world, and how often the value was made.
    private func explore(
        _ start: LeaseWorld
    ) -> (all: WorldExploration, mostMakes: Int, faultlessMakes: Set<Int>) {
        var mostMakes = 0
        var faultlessMakes: Set<Int> = []
        let all = WorldExploration(start) { world in
            mostMakes = max(mostMakes, world.makes)
            if world.isFaultless { faultlessMakes.insert(world.makes) }
        }
        return (all, mostMakes, faultlessMakes)
    }

    /// Expects no violation, and nobody who still waits at an end.
    private func expectSound(
        _ start: LeaseWorld, makes: Int, _ location: SourceLocation = #_sourceLocation
    ) -> (all: WorldExploration, mostMakes: Int, faultlessMakes: Set<Int>) {
        let result = explore(start)
        print("\(result.all.states) states, \(result.all.ends) ends")
        #expect(result.all.violations.isEmpty, "\(result.all.violations)", sourceLocation: location)
        #expect(result.all.stuck == 0, sourceLocation: location)
        #expect(result.faultlessMakes == [makes], sourceLocation: location)
        return result
    }

    @Test func onAllWaysOfThreeNodesGenerationsOnlyGrowAndNothingOfAPassedLeaseIsPublished() {
        let result = expectSound(LeaseWorld(nodes: 3, faults: 2), makes: 1)
        #expect(result.all.states > 10_000 && result.all.ends > 0)
        #expect(result.mostMakes == 3)
    }

    @Test func twoNodesStandFourFaults() {
        _ = expectSound(LeaseWorld(nodes: 2, faults: 4), makes: 1)
    }

    @Test func whatIsOfNoUseToOthersIsMadeByEachOnce() {
        _ = expectSound(LeaseWorld(nodes: 3, faults: 1, isUsable: false), makes: 3)
    }

    @Test(arguments: [
        (LeaseWorld.Flaw.publishesWithoutLease, "the result of a lease that had passed"),
        (.forgetsTheGeneration, "generation 1 after 1"),
    ])
    func aFlawOfTheStoreIsNoticed(flaw: LeaseWorld.Flaw, violation: String) {
        let result = explore(LeaseWorld(nodes: 2, faults: 2, flaw: flaw))
        #expect(result.all.violations.contains(violation))
    }
}
