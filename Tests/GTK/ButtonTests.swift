import CGtk4
import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct ButtonTests {
    private let normal = image(.solid(.red, width: 8, height: 8))
    private let disabled = image(.solid(.green, width: 8, height: 8))
    private let selected = image(.solid(.blue, width: 8, height: 8))

    private func shows(_ image: Image, _ button: ImageControl) throws -> Bool {
        button.picture == Picture(try image.bitmap())
    }

    @Test func theImageOfTheStateIsShown() throws {
        let button = Button()
        button.setImage(normal, for: .normal)
        button.setImage(disabled, for: .disabled)
        button.setImage(selected, for: .selected)
        #expect(try shows(normal, button))
        button.isSelected = true
        #expect(try button.isSelected && shows(selected, button))
        button.isEnabled = false
        #expect(try shows(disabled, button))
        button.setImage(nil, for: .disabled)
        #expect(try shows(selected, button) && button.image(for: .disabled) == nil)
        button.isSelected = false
        #expect(try shows(normal, button))
    }

    @Test func theImageOfAMoreExactStateComesFirst() throws {
        let button = Button()
        button.setImage(normal, for: .normal)
        button.setImage(selected, for: .selected)
        button.setImage(disabled, for: [.selected, .disabled])
        button.isEnabled = false
        #expect(try shows(normal, button))
        button.isSelected = true
        #expect(try shows(disabled, button))
    }

    @Test func theBackgroundIsStretchedBehindTheImage() async {
        let button = Button()
        button.setBackgroundImage(selected, for: .normal)
        button.setImage(normal, for: .normal)
        button.placement = PicturePlacement(mode: .center)
        let window = await TestWindow(button, width: 80, height: 60)
        let shot = await window.screenshot()
        #expect(shot.pixel(40, 30) == .red)
        #expect(shot.pixel(40, 16) == .blue && shot.pixel(25, 30) == .blue)
        #expect(button.face.measure(.horizontal, other: nil).natural == 8)
    }

    @Test func aClickIsTold() {
        let button = Button()
        let clicks = Locked(0)
        button.onClick = { clicks.withLock { $0 += 1 } }
        cgtk_emit(button.widget, "clicked")
        #expect(clicks.value == 1)
    }

    @Test func aToggleButtonShowsItsAlternateImageWhenItIsOn() throws {
        let button = ToggleButton()
        button.image = normal
        button.alternateImage = selected
        #expect(try !button.isOn && shows(normal, button))
        button.isOn = true
        #expect(try button.isOn && shows(selected, button))
        button.alternateImage = nil
        #expect(try shows(normal, button))
    }
}
