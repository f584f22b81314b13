// Positions of parts and of the picture.

extension OptionApplication {
    /// Reads a flag, and the position of the picture.
    func placed(_ arguments: OptionArguments, current: Gravity?) throws(PlanError) -> Gravity? {
        var isOn = current != nil
        readFlag(arguments, into: &isOn)
        let place = try gravity(
            arguments.dropFirst(), current: current ?? .centre, allowsSmart: false)
        return isOn ? place : nil
    }

    /// Reads a type and two numbers. Missing arguments mean the centre, without offsets.
    func gravity(
        _ arguments: OptionArguments, current: Gravity, allowsSmart: Bool = true
    ) throws(PlanError) -> Gravity {
        guard arguments.has(0) else { return .centre }
        let form: ArgumentForm<GravityType> = allowsSmart ? .gravity : .gravityWithoutSmart
        if let text = arguments[0], text == "obj" || text == "objw" {
            throw arguments.unsupported("gravity “\(text)”")
        }
        let type = try arguments.value(0, form) ?? GravityType(current)
        var (x, y) = (0.0, 0.0)
        if GravityType(current) == type {
            switch current {
            case .anchor(_, let oldX, let oldY), .focus(let oldX, let oldY): (x, y) = (oldX, oldY)
            case .smart: break
            }
        }
        switch type {
        case .smart:
            guard arguments[1] == nil, arguments[2] == nil else {
                throw arguments.wrong("the gravity sm takes no offsets.")
            }
            return .smart
        case .focus:
            guard arguments[1] != nil, arguments[2] != nil else {
                throw arguments.wrong("the gravity fp takes two numbers from 0 to 1.")
            }
            try arguments.read(1, into: &x, .share)
            try arguments.read(2, into: &y, .share)
            return .focus(x: x, y: y)
        case .anchor(let anchor):
            try arguments.read(1, into: &x, .offset, orElse: 0)
            try arguments.read(2, into: &y, .offset, orElse: 0)
            return .anchor(anchor, x: x, y: y)
        }
    }

    mutating func applyCrop(_ arguments: OptionArguments) throws(PlanError) {
        guard arguments[0] != nil || arguments[1] != nil else {
            throw arguments.wrong("a width or a height is needed.")
        }
        var crop = options.crop ?? .init(width: 0, height: 0)
        try arguments.read(0, into: &crop.width, .length)
        try arguments.read(1, into: &crop.height, .length, orElse: 0)
        crop.gravity =
            arguments.has(2)
            ? try gravity(arguments.dropFirst(2), current: crop.gravity ?? .centre) : nil
        options.crop = crop.width == 0 && crop.height == 0 ? nil : crop
    }

    mutating func applyTrim(_ arguments: OptionArguments) throws(PlanError) {
        guard let threshold = try arguments.value(0, .atLeastZero) else {
            options.trim = nil
            return
        }
        var trim = ProcessingOptions.Trim(threshold: threshold)
        trim.colour = try arguments.value(1, .colour)
        readFlag(arguments, 2, into: &trim.equalHorizontally)
        readFlag(arguments, 3, into: &trim.equalVertically)
        options.trim = trim
    }

    mutating func applyPadding(_ arguments: OptionArguments) throws(PlanError) {
        var padding = options.padding
        try arguments.read(0, into: &padding.top, .pixels)
        try arguments.read(1, into: &padding.right, .pixels, orElse: padding.top)
        try arguments.read(2, into: &padding.bottom, .pixels, orElse: padding.top)
        try arguments.read(3, into: &padding.left, .pixels, orElse: padding.right)
        options.padding = padding
    }
}

/// The type of a gravity, its first argument.
private enum GravityType: Equatable {
    case anchor(Gravity.Anchor)
    case focus
    case smart

    init(_ gravity: Gravity) {
        self =
            switch gravity {
            case .anchor(let anchor, _, _): .anchor(anchor)
            case .focus: .focus
            case .smart: .smart
            }
    }

    init?(_ text: String) {
        switch text {
        case "fp": self = .focus
        case "sm": self = .smart
        default:
            guard let anchor = Gravity.Anchor(rawValue: text) else { return nil }
            self = .anchor(anchor)
        }
    }
}

extension ArgumentForm where Value == GravityType {
    fileprivate static var gravity: Self {
        ArgumentForm("one of ce no so ea we noea nowe soea sowe fp sm") { GravityType($0) }
    }

    fileprivate static var gravityWithoutSmart: Self {
        ArgumentForm("one of ce no so ea we noea nowe soea sowe fp") {
            GravityType($0).flatMap { $0 == .smart ? nil : $0 }
        }
    }
}

extension ArgumentForm where Value == Double {
    fileprivate static var length: Self {
        .number("a length in pixels or a share below 1") { $0 >= 0 }
    }
}
