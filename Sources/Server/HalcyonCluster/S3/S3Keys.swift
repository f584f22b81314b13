package import Foundation

/// The credentials that sign requests to a store.
package struct S3Keys: Hashable, Sendable {
    package var accessKey: String
    package var secretKey: String
    package var sessionToken: String?
    /// The expiration of the keys; `nil` for never.
    package var expires: Date?

    package init(
        accessKey: String, secretKey: String, sessionToken: String? = nil, expires: Date? = nil
    ) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
        self.expires = expires
    }

    /// `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`; `nil` without the first two.
    package init?(environment: [String: String]) {
        guard let access = environment["AWS_ACCESS_KEY_ID"], !access.isEmpty,
            let secret = environment["AWS_SECRET_ACCESS_KEY"], !secret.isEmpty
        else { return nil }
        let token = environment["AWS_SESSION_TOKEN"]
        self.init(
            accessKey: access, secretKey: secret,
            sessionToken: token.flatMap { $0.isEmpty ? nil : $0 })
    }

    /// The keys of a profile in a file of Amazon's form: lines of `name = value` below `[profile]`.
    ///
    /// `nil` when the profile is missing or lacks a key.
    package init?(file text: String, profile: String) {
        var values: [String: String] = [:]
        var isInProfile = false
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("#") || line.hasPrefix(";") { continue }
            if line.hasPrefix("["), line.hasSuffix("]") {
                isInProfile =
                    line.dropFirst().dropLast().trimmingCharacters(in: .whitespaces) == profile
            } else if isInProfile, let sign = line.firstIndex(of: "=") {
                let name = line[..<sign].trimmingCharacters(in: .whitespaces).lowercased()
                values[name] = line[line.index(after: sign)...].trimmingCharacters(in: .whitespaces)
            }
        }
        guard let access = values["aws_access_key_id"], !access.isEmpty,
            let secret = values["aws_secret_access_key"], !secret.isEmpty
        else { return nil }
        self.init(accessKey: access, secretKey: secret, sessionToken: values["aws_session_token"])
    }

    /// The keys in a response of a container's credentials address: JSON with `AccessKeyId`,
    /// `SecretAccessKey`, `Token` and `Expiration` (`2026-11-23T15:00:00Z`).
    package init?(containerAnswer data: Data) {
        struct Answer: Decodable {
            let AccessKeyId: String
            let SecretAccessKey: String
            let Token: String?
            let Expiration: String?
        }
        guard let answer = try? JSONDecoder().decode(Answer.self, from: data) else { return nil }
        self.init(
            accessKey: answer.AccessKeyId, secretKey: answer.SecretAccessKey,
            sessionToken: answer.Token,
            expires: answer.Expiration.flatMap { try? Date($0, strategy: .iso8601) })
    }
}
