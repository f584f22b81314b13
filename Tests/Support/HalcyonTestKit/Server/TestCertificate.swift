/// A certificate and its private key, made for tests only.
///
/// The keys are public: they are part of this source. Nothing but a test may trust them.
/// Each certificate is self-signed (P-256), so it is its own trust anchor.
public struct TestCertificate: Hashable, Sendable {
    /// The certificate in PEM form.
    public let certificatePEM: String
    /// The private key (PKCS #8) in PEM form.
    public let privateKeyPEM: String

    /// Valid 2020-2120 for `localhost`, `127.0.0.1` and `::1`.
    public static let localhost = TestCertificate(
        certificatePEM: """
            -----BEGIN CERTIFICATE-----
            MIIByDCCAW2gAwIBAgIUdhKpKuac88I/EEMFCOAiuRLEBCQwCgYIKoZIzj0EAwIw
            HjEcMBoGA1UEAwwTSGFsY3lvbiB0ZXN0IHNlcnZlcjAgFw0yMDAxMDEwMDAwMDBa
            GA8yMTIwMDEwMTAwMDAwMFowHjEcMBoGA1UEAwwTSGFsY3lvbiB0ZXN0IHNlcnZl
            cjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPXMlO2nvnUdGPeCgvGWIhOIjGP5
            F8s9IjX2VtiEh7yrnaXzotbZyWDfXW76AqDIHiT+8Jra6uQcE8qNYVCpl/6jgYYw
            gYMwLAYDVR0RBCUwI4IJbG9jYWxob3N0hwR/AAABhxAAAAAAAAAAAAAAAAAAAAAB
            MA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgKEMBMGA1UdJQQMMAoGCCsG
            AQUFBwMBMB0GA1UdDgQWBBRPUBOs1k6ffYlBjHONQ0D9TCGmQDAKBggqhkjOPQQD
            AgNJADBGAiEA/XB2R2HtutQtcgaDVfdSgB1uC7ZUWozqHY7Kc7iaKcMCIQCAmd03
            RpfIXp62pQKtn8jR99JuYkxZYPgqimvQoQBb5A==
            -----END CERTIFICATE-----
            """,
        privateKeyPEM: """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQggRD6WpLPVW2FATQM
            H9OU0yM3vZRPVtW/GMOq5fasSE2hRANCAAT1zJTtp751HRj3goLxliITiIxj+RfL
            PSI19lbYhIe8q52l86LW2clg311u+gKgyB4k/vCa2urkHBPKjWFQqZf+
            -----END PRIVATE KEY-----
            """)

    /// Valid 2020-2120, but only for `wrong-host.invalid`.
    public static let wrongHost = TestCertificate(
        certificatePEM: """
            -----BEGIN CERTIFICATE-----
            MIIB1zCCAX6gAwIBAgIUaUibI0DdUa1gNw9uPGMlRSztsmMwCgYIKoZIzj0EAwIw
            LzEtMCsGA1UEAwwkSGFsY3lvbiB0ZXN0IHNlcnZlciBmb3IgYW5vdGhlciBob3N0
            MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAvMS0wKwYDVQQDDCRI
            YWxjeW9uIHRlc3Qgc2VydmVyIGZvciBhbm90aGVyIGhvc3QwWTATBgcqhkjOPQIB
            BggqhkjOPQMBBwNCAAQv37dyz5LCxXnnH1ONMRozio91v9JZxwanG+cyEo+d0KjK
            AbDI/ixAkINdH7PXh2qwJFi0nufBraJ/YbLkkd/Mo3YwdDAdBgNVHREEFjAUghJ3
            cm9uZy1ob3N0LmludmFsaWQwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMC
            AoQwEwYDVR0lBAwwCgYIKwYBBQUHAwEwHQYDVR0OBBYEFLMJ8H2zW4uWBC73Qb/u
            l6WmKMJFMAoGCCqGSM49BAMCA0cAMEQCIGbZWC5FO11jcDNvGdxbMmmrCqsk2okP
            36zjoC1hyDOyAiAaeM7MzPg2Cq/MyCSrFlJ55XI4ASX2EfQlGtJXuXCJOg==
            -----END CERTIFICATE-----
            """,
        privateKeyPEM: """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQghXP5p2dO+T2+39ck
            f8TvISSAWz5ExJJobz7qaC7oqJ6hRANCAAQv37dyz5LCxXnnH1ONMRozio91v9JZ
            xwanG+cyEo+d0KjKAbDI/ixAkINdH7PXh2qwJFi0nufBraJ/YbLkkd/M
            -----END PRIVATE KEY-----
            """)

    /// For `localhost`, but expired at the start of 2001.
    public static let expired = TestCertificate(
        certificatePEM: """
            -----BEGIN CERTIFICATE-----
            MIIB1TCCAXugAwIBAgIUMkJ51pcu0wNcOJHG6VrVzLyefpAwCgYIKoZIzj0EAwIw
            JjEkMCIGA1UEAwwbSGFsY3lvbiBleHBpcmVkIHRlc3Qgc2VydmVyMB4XDTAwMDEw
            MTAwMDAwMFoXDTAxMDEwMTAwMDAwMFowJjEkMCIGA1UEAwwbSGFsY3lvbiBleHBp
            cmVkIHRlc3Qgc2VydmVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE5MpfXe4h
            TIKYViQnbKW8EODdu4CQ3QKvAOStUqPz2tp2T6H/LZLP+fYIWQrcfOXQDD1VUBmH
            9nrteSjHagz3laOBhjCBgzAsBgNVHREEJTAjgglsb2NhbGhvc3SHBH8AAAGHEAAA
            AAAAAAAAAAAAAAAAAAEwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAoQw
            EwYDVR0lBAwwCgYIKwYBBQUHAwEwHQYDVR0OBBYEFO6iaqFGp/mNzookq68UKOF5
            0iQBMAoGCCqGSM49BAMCA0gAMEUCID01fclp9MBYGjMyN5iKuNf51ay3X9ZPkzdj
            TGfm0q/GAiEA33YYleAl07qfsgeqJfqhy0N1Pw8AGlxFwKJFLq20qnU=
            -----END CERTIFICATE-----
            """,
        privateKeyPEM: """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgJGVrgMp1uphvwHXX
            aWnQHVlcHbhkL/xGufy1rGR8gb6hRANCAATkyl9d7iFMgphWJCdspbwQ4N27gJDd
            Aq8A5K1So/Pa2nZPof8tks/59ghZCtx85dAMPVVQGYf2eu15KMdqDPeV
            -----END PRIVATE KEY-----
            """)

    /// Valid 2020-2120, for a client that has to show who it is.
    public static let client = TestCertificate(
        certificatePEM: """
            -----BEGIN CERTIFICATE-----
            MIIBsjCCAVigAwIBAgIUTXtKOy+7sVEY7FgZXys0cXDzpqAwCgYIKoZIzj0EAwIw
            HjEcMBoGA1UEAwwTSGFsY3lvbiB0ZXN0IGNsaWVudDAgFw0yMDAxMDEwMDAwMDBa
            GA8yMTIwMDEwMTAwMDAwMFowHjEcMBoGA1UEAwwTSGFsY3lvbiB0ZXN0IGNsaWVu
            dDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNa+axw3BcBcsZ/oJNMU827/g392
            BDx0RXry/cuGmAOtDcFlfbXKNkPNer1aL+2suYKQRtEhwUKv1FfSx0EpTOqjcjBw
            MBkGA1UdEQQSMBCCDmNsaWVudC5pbnZhbGlkMA8GA1UdEwEB/wQFMAMBAf8wDgYD
            VR0PAQH/BAQDAgKEMBMGA1UdJQQMMAoGCCsGAQUFBwMCMB0GA1UdDgQWBBTNgmF/
            UjmtGjrN9m8fIysgG7YE4jAKBggqhkjOPQQDAgNIADBFAiAYrKo3qF4lV4e5rcLU
            6fHxWnMSsNw/uSdbQ7Cfb+RFWwIhAOFPBKVrPZGm3NbZ5V0LXFXzrKVZ81pkx25K
            /A4FlCk0
            -----END CERTIFICATE-----
            """,
        privateKeyPEM: """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg6TAopePQGVbIxm6n
            woYAHiQBvIoQbIO1sd0LeLcQ1cChRANCAATWvmscNwXAXLGf6CTTFPNu/4N/dgQ8
            dEV68v3LhpgDrQ3BZX21yjZDzXq9Wi/trLmCkEbRIcFCr9RX0sdBKUzq
            -----END PRIVATE KEY-----
            """)
}
