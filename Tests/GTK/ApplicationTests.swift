import HalcyonGTKTestKit
import Testing

@testable import HalcyonGTK

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct ApplicationTests {
    @Test func aProgramEndsWithItsLastWindow() {
        let count = LiveObjects()
        var shown: Label?
        let application = Application { application in
            let label = Label("seen")
            let window = application.show(Window(width: 40, height: 20), content: label)
            count.watch(label)
            shown = window.content as? Label
            window.close()
        }
        #expect(application.run() == 0)
        #expect(shown?.text == "seen" && count.watched == 1)
        shown = nil
        #expect(count.alive == 0)
    }

    @Test func aProgramEndsWhenItIsToldTo() {
        var window: Window?
        let application = Application { application in
            window = application.show(Window(width: 40, height: 20))
            application.quit()
        }
        #expect(application.run() == 0)
        #expect(window != nil)
        window?.close()
    }

    @Test func aProgramWithoutAWindowEndsAtOnce() {
        var activations = 0
        let application = Application(identifier: "org.example.Test") { _ in activations += 1 }
        #expect(application.run() == 0)
        #expect(activations == 1 && Application.hasDisplay)
    }
}
