import Foundation
import Testing

@testable import HalcyonServerURLs

/// Tags of results, and what clients have already.
struct ConditionalRequestTests {
    @Test func aTagDependsOnAllItsParts() {
        let tag = ResultTag(source: "v", plan: "p", variant: "f", epoch: "e").text
        #expect(tag.hasPrefix("W/\"") && tag.hasSuffix("\"") && tag.utf8.count == 26)
        #expect(tag == ResultTag(source: "v", plan: "p", variant: "f", epoch: "e").text)
        let others = [
            ResultTag(source: "x", plan: "p", variant: "f", epoch: "e"),
            ResultTag(source: "v", plan: "x", variant: "f", epoch: "e"),
            ResultTag(source: "v", plan: "p", variant: "x", epoch: "e"),
            ResultTag(source: "v", plan: "p", variant: "f", epoch: "x"),
            ResultTag(source: "vp", plan: "", variant: "f", epoch: "e"),
        ].map(\.text)
        #expect(!others.contains(tag) && Set(others).count == others.count)
    }

    @Test(
        arguments: [
            (["W/\"a\""], true), (["\"a\""], true), (["\"b\", W/\"a\""], true), (["*"], true),
            (["\"b\"", "\"a\""], true), (["\"b\""], false), (["a"], false), (["\"a,b\""], false),
            (["\"a"], false), (["w/\"a\""], false),
        ] as [([String], Bool)])
    func tagsAreComparedWeakly(ifNoneMatch: [String], isMet: Bool) {
        let request = ConditionalRequest(ifNoneMatch: ifNoneMatch)
        #expect(request.isConditional)
        #expect(request.isMet(tag: "W/\"a\"", lastModified: nil) == isMet)
    }

    @Test func datesCountWhereThereIsNoTag() {
        let date = Date(timeIntervalSince1970: 1000)
        let later = Date(timeIntervalSince1970: 1001)
        let request = ConditionalRequest(ifModifiedSince: date)
        #expect(request.isMet(tag: "W/\"a\"", lastModified: date))
        #expect(request.isMet(tag: "W/\"a\"", lastModified: date.addingTimeInterval(0.9)))
        #expect(!request.isMet(tag: "W/\"a\"", lastModified: later))
        #expect(!request.isMet(tag: "W/\"a\"", lastModified: nil))
        let both = ConditionalRequest(ifNoneMatch: ["\"b\""], ifModifiedSince: later)
        #expect(!both.isMet(tag: "W/\"a\"", lastModified: date))
        #expect(!ConditionalRequest().isConditional)
    }

    @Test func aThousandTagsAreRead() {
        let tags = (0..<5000).map { "\"\($0)\"" }.joined(separator: ", ")
        let request = ConditionalRequest(ifNoneMatch: [tags])
        #expect(request.isMet(tag: "W/\"999\"", lastModified: nil))
        #expect(!request.isMet(tag: "W/\"1000\"", lastModified: nil))
    }
}
