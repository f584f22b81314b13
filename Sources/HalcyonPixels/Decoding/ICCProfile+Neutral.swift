import Foundation
import Vips

extension ICCProfile {
    /// Whether colours are the same with and without the profile: because there is none, because it is
    /// sRGB, or because it is none for these channels and so not looked at.
    static func isNeutral(_ profile: [UInt8]?, channels: Int) -> Bool {
        guard let profile, let profile = ICCProfile(Data(profile)) else { return true }
        return profile.channelCount != channels || profile.isSRGB
    }
}
