import Foundation
import NIOCore

/// A failure to listen at an address.
public struct ListenError: Error, Hashable, Sendable, CustomStringConvertible {
    public let address: ListenAddress
    /// The setting that has the address: `bind` or `ops.bind`.
    public internal(set) var setting = "bind"
    /// In words that follow the address.
    public let reason: String
    /// Whether another address is needed, and not another time.
    public let isSetting: Bool

    init(_ address: ListenAddress, reason: String, isSetting: Bool = false) {
        self.address = address
        self.reason = reason
        self.isSetting = isSetting
    }

    init(_ address: ListenAddress, number: Int32) {
        let words = String(cString: strerror(number))
        self.init(
            address, reason: words.prefix(1).lowercased() + words.dropFirst(),
            isSetting: [EACCES, EPERM, EADDRNOTAVAIL, ENOENT, ENOTDIR, EROFS, ENAMETOOLONG]
                .contains(number))
    }

    init(_ address: ListenAddress, _ error: any Error) {
        switch error {
        case let error as ListenError: self = error
        case let error as IOError: self.init(address, number: error.errnoCode)
        case is SocketAddressError, is SocketAddressError.UnknownHost:
            self.init(address, reason: "there is no such host", isSetting: true)
        default: self.init(address, reason: "\(error)")
        }
    }

    func of(_ setting: String) -> ListenError {
        var copy = self
        copy.setting = setting
        return copy
    }

    public var description: String { "cannot listen on \(address) (\(setting)): \(reason)" }
}
