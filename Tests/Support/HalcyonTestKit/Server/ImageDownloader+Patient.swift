public import Halcyon

extension ImageDownloader {
    /// A downloader that does not give up because the machine is busy with other tests.
    public static func patient(_ name: String = "test") -> ImageDownloader {
        let downloader = ImageDownloader(name: name)
        downloader.downloadTimeout = 600
        downloader.connectTimeout = 60
        return downloader
    }
}
