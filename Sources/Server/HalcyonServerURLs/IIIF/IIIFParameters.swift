import HalcyonWork

/// Which picture of the picture is asked for, as written: nothing here depends on its size.
package struct IIIFParameters: Sendable, Hashable {
    package enum Region: Sendable, Hashable {
        case full
        /// The shorter side, from the middle of the longer one.
        case square
        case pixels(x: Int, y: Int, width: Int, height: Int)
        /// Per cent of the sides.
        case percent(x: Double, y: Double, width: Double, height: Double)
    }

    package enum Size: Sendable, Hashable {
        case max
        case width(Int)
        case height(Int)
        case percent(Double)
        case exactly(Dimensions)
        /// The largest that fits into it.
        case within(Dimensions)
    }

    package struct Rotation: Sendable, Hashable {
        /// Left and right exchanged, before turning.
        package var isMirrored: Bool
        /// Clockwise, 0…360, without 360.
        package var degrees: Double

        /// Quarters of a turn; `nil` for other angles.
        package var quarters: Int? {
            let quarters = degrees / 90
            return quarters == quarters.rounded() ? Int(quarters) : nil
        }
    }

    package enum Quality: String, Sendable, Hashable, CaseIterable {
        case `default`
        case color
        case gray
        case bitonal
    }

    package var region: Region
    package var size: Size
    /// Whether `^` lets the picture become larger than the region.
    package var allowsEnlarging: Bool
    package var rotation: Rotation
    package var quality: Quality
    package var format: OutputFormat

    /// The four segments of a path, each still percent-encoded.
    package init(
        region: String, size: String, rotation: String, qualityAndFormat: String
    ) throws(PlanError) {
        self.region = try Self.region(Self.decoded(region, .iiifRegion))
        let size = try Self.decoded(size, .iiifSize)
        allowsEnlarging = size.hasPrefix("^")
        self.size = try Self.size(allowsEnlarging ? String(size.dropFirst()) : size)
        self.rotation = try Self.rotation(Self.decoded(rotation, .iiifRotation))
        let last = try Self.decoded(qualityAndFormat, .iiifQuality)
        let parts = last.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else {
            throw PlanError(.iiifQuality, "The last part has to be QUALITY.FORMAT.")
        }
        guard let quality = Quality(rawValue: parts[0]) else {
            throw PlanError(.iiifQuality, "The quality has to be default, color, gray or bitonal.")
        }
        self.quality = quality
        guard let format = Self.formats[parts[1]] else {
            throw PlanError(
                .iiifFormat,
                "The format has to be one of \(Self.formats.keys.sorted().joined(separator: " ")).")
        }
        self.format = format
    }

    /// The formats that can be asked for. Which of them can be written depends on the machine.
    package static let formats: [String: OutputFormat] = [
        "jpg": .jpeg, "png": .png, "webp": .webp, "gif": .gif, "tif": .tiff, "avif": .avif,
        "jxl": .jxl,
    ]

    package static func name(of format: OutputFormat) -> String {
        formats.first { $0.value == format }?.key ?? format.fileExtension
    }

    private static func decoded(
        _ segment: String, _ failure: ServerFailure
    ) throws(PlanError) -> String {
        guard let text = PercentEncoding.decode(segment) else {
            throw PlanError(failure, "This part of the URL is not percent-encoded UTF-8.")
        }
        return text
    }

    private static func region(_ text: String) throws(PlanError) -> Region {
        if text == "full" { return .full }
        if text == "square" { return .square }
        let isPercent = text.hasPrefix("pct:")
        let parts = Self.parts(isPercent ? String(text.dropFirst(4)) : text)
        if isPercent {
            let numbers = parts.compactMap(decimal)
            if parts.count == 4, numbers.count == 4, numbers[2] > 0, numbers[3] > 0 {
                return .percent(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
            }
        } else {
            let numbers = parts.compactMap(integer)
            if parts.count == 4, numbers.count == 4, numbers[2] > 0, numbers[3] > 0 {
                return .pixels(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
            }
        }
        throw PlanError(
            .iiifRegion,
            "The region has to be full, square, X,Y,W,H or pct:X,Y,W,H, with W and H above 0.")
    }

    /// - Parameter text: Without `^`.
    private static func size(_ text: String) throws(PlanError) -> Size {
        let wrong = PlanError(
            .iiifSize, "The size has to be max, W, or ,H or pct:N or W,H or !W,H, perhaps after ^.")
        if text == "max" { return .max }
        if text.hasPrefix("pct:") {
            guard let percent = decimal(String(text.dropFirst(4))), percent > 0 else { throw wrong }
            return .percent(percent)
        }
        let isWithin = text.hasPrefix("!")
        let parts = Self.parts(isWithin ? String(text.dropFirst()) : text)
        guard parts.count == 2 else { throw wrong }
        let numbers = parts.map(integer)
        guard !numbers.contains(0) else {
            throw PlanError(.iiifSize, "No side of the size can be 0.")
        }
        switch (numbers[0], numbers[1]) {
        case (let width?, let height?):
            let size = Dimensions(width: width, height: height)
            return isWithin ? .within(size) : .exactly(size)
        case (let width?, nil) where parts[1].isEmpty && !isWithin: return .width(width)
        case (nil, let height?) where parts[0].isEmpty && !isWithin: return .height(height)
        default: throw wrong
        }
    }

    private static func rotation(_ text: String) throws(PlanError) -> Rotation {
        let isMirrored = text.hasPrefix("!")
        guard let degrees = decimal(isMirrored ? String(text.dropFirst()) : text), degrees <= 360
        else {
            throw PlanError(
                .iiifRotation, "The rotation has to be a number from 0 to 360, perhaps after !.")
        }
        return Rotation(isMirrored: isMirrored, degrees: degrees == 360 ? 0 : degrees)
    }

    private static func parts(_ text: String) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    /// Up to nine digits.
    private static func integer(_ text: String) -> Int? {
        text.utf8.allSatisfy(\.isDigit) && text.utf8.count <= 9 ? Int(text) : nil
    }

    /// Digits with at most one point before, within or behind them.
    private static func decimal(_ text: String) -> Double? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ $0.allSatisfy(\.isDigit) }),
            parts.contains(where: { !$0.isEmpty }), text.utf8.count <= 30
        else { return nil }
        return Double("0" + text + (parts.count == 2 ? "0" : ""))
    }
}
