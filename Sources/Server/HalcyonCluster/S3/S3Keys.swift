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
        self.init(
            found: environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"],
            environment["AWS_SESSION_TOKEN"])
    }

    /// `nil` without the first two; empty ones are none.
    private init?(found access: String?, _ secret: String?, _ token: String?) {
        guard let access, !access.isEmpty, let secret, !secret.isEmpty else { return nil }
        let token = token.flatMap { $0.isEmpty ? nil : $0 }
        self.init(accessKey: access, secretKey: secret, sessionToken: token)
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
        self.init(
            found: values["aws_access_key_id"], values["aws_secret_access_key"],
            values["aws_session_token"])
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
