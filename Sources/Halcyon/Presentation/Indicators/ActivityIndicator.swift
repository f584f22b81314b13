/// The toolkit's spinner, seen as long as any load runs.
@MainActor final class ActivityIndicator: Indicator {
    private let spinner: any ActivityView
    private var runningLoads = 0

    init(view: any ActivityView) {
        spinner = view
    }

    var view: any IndicatorView { spinner }

    func startAnimatingView() {
        if runningLoads == 0 {
            spinner.startAnimating()
            spinner.isHidden = false
        }
        runningLoads += 1
    }

    func stopAnimatingView() {
        runningLoads = max(0, runningLoads - 1)
        if runningLoads == 0 {
            spinner.stopAnimating()
            spinner.isHidden = true
        }
    }

    func sizeStrategy(in imageView: any KFCrossPlatformImageView) -> IndicatorSizeStrategy {
        .intrinsicSize
    }
}
