package import Foundation
import HalcyonWork

/// Dates as header fields have them (RFC 9110, section 5.6.7); ``HTTPDateParser`` reads them.
package enum HTTPDate {
    /// `Sun, 06 Nov 1994 08:49:37 GMT`; fractions of seconds are left out.
    package static func text(_ date: Date) -> String {
        var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = days[Int(parts.tm_wday)]
        let month = months[Int(parts.tm_mon)]
        let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(two).joined(separator: ":")
        return "\(day), \(two(parts.tm_mday)) \(month) \(1900 + parts.tm_year) \(time) GMT"
    }

    static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

/// Dates in the three forms of RFC 9110, section 5.6.7, always in GMT.
package enum HTTPDateParser {
    /// The date in `text`, `nil` when it has none of the forms.
    ///
    /// Names may have any case; that the day of the week fits is not asked.
    /// - Parameter now: settles the century of a year with two digits: it is at most 50 years
    ///   ahead of now.
    package static func date(_ text: String, now: Date) -> Date? {
        let text = text.trimmingFieldSpaces
        return fixedDate(text) ?? asctimeDate(text) ?? rfc850Date(text, now: now)
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    private static func fixedDate(_ text: String) -> Date? {
        var reader = DateReader(text)
        guard reader.name(of: DateReader.weekdays) != nil, reader.literal(", "),
            let day = reader.number(digits: 2), reader.literal(" "),
            let month = reader.name(of: DateReader.months), reader.literal(" "),
            let year = reader.number(digits: 4), reader.literal(" "),
            let time = reader.time(), reader.literal(" gmt"), reader.isAtEnd
        else { return nil }
        return date(year: year, month: month + 1, day: day, time: time)
    }

    /// `Sun Nov  6 08:49:37 1994`
    private static func asctimeDate(_ text: String) -> Date? {
        var reader = DateReader(text)
        guard reader.name(of: DateReader.weekdays) != nil, reader.literal(" "),
            let month = reader.name(of: DateReader.months), reader.literal(" "),
            let day = reader.literal(" ") ? reader.number(digits: 1) : reader.number(digits: 2),
            reader.literal(" "), let time = reader.time(), reader.literal(" "),
            let year = reader.number(digits: 4), reader.isAtEnd
        else { return nil }
        return date(year: year, month: month + 1, day: day, time: time)
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    private static func rfc850Date(_ text: String, now: Date) -> Date? {
        var reader = DateReader(text)
        guard reader.name(of: DateReader.longWeekdays) != nil, reader.literal(", "),
            let day = reader.number(digits: 2), reader.literal("-"),
            let month = reader.name(of: DateReader.months), reader.literal("-"),
            let year = reader.number(digits: 2), reader.literal(" "),
            let time = reader.time(), reader.literal(" gmt"), reader.isAtEnd
        else { return nil }
        // The latest year with these digits that is not more than 50 years ahead.
        guard now.timeIntervalSince1970.isFinite else { return nil }
        let latest = now.addingTimeInterval(50 * 365.2425 * 86_400)
        return stride(from: 9900 + year, to: 0, by: -100).lazy
            .compactMap { date(year: $0, month: month + 1, day: day, time: time) }
            .first { $0 <= latest }
    }

    /// Seconds of the day in `time`.
    private static func date(year: Int, month: Int, day: Int, time: Int) -> Date? {
        guard (1...days(inMonth: month, year: year)).contains(day) else { return nil }
        let days = dayNumber(year: year, month: month, day: day)
        return Date(timeIntervalSince1970: TimeInterval(days * 86_400 + time))
    }

    private static func days(inMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days since 1 January 1970 in the Gregorian calendar. Years are counted from March, so that
    /// the leap day is the last of its year.
    private static func dayNumber(year: Int, month: Int, day: Int) -> Int {
        let shifted = month > 2 ? year + 400 : year + 399
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let leapDays = shifted / 4 - shifted / 100 + shifted / 400
        return shifted * 365 + leapDays + dayOfYear - 719_468 - 146_097
    }
}

/// Reads the parts of a date. Texts to compare with are in lower case.
struct DateReader {
    static let weekdays = HTTPDate.days.map(\.lowercasedASCII)
    static let longWeekdays = [
        "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    ]
    static let months = HTTPDate.months.map(\.lowercasedASCII)

    private var rest: Substring.UTF8View

    init(_ text: String) {
        // No form is longer than `Wednesday, 06-Nov-94 08:49:37 GMT`.
        rest = (text.utf8.count > 33 ? "" : text.lowercasedASCII)[...].utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func literal(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    /// The position in `names` of the one that comes next.
    mutating func name(of names: [String]) -> Int? {
        guard let index = names.firstIndex(where: { rest.starts(with: $0.utf8) }) else {
            return nil
        }
        rest = rest.dropFirst(names[index].utf8.count)
        return index
    }

    /// A number of exactly so many digits, at most four.
    mutating func number(digits: Int) -> Int? {
        let text = rest.prefix(digits)
        guard text.count == digits, text.allSatisfy(\.isDigit) else { return nil }
        rest = rest.dropFirst(digits)
        return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// The seconds since midnight of `08:49:37`. A leap second counts as the one before it.
    mutating func time() -> Int? {
        guard let hour = number(digits: 2), hour <= 23, literal(":"),
            let minute = number(digits: 2), minute <= 59, literal(":"),
            let second = number(digits: 2), second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + min(second, 59)
    }
}
