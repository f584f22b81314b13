@MainActor extension KF.Builder {
    /// Loads the image and shows it in `imageView`.
    @discardableResult
    public func set<View: KFCrossPlatformImageView>(to imageView: View) -> DownloadTask? {
        imageView.kf.setImage(
            with: source, placeholder: placeholder, parsedOptions: options,
            progressBlock: progressBlock, completionHandler: completionHandler)
    }

    /// Loads the image and gives it to `holder`.
    @discardableResult
    public func set<Holder: KingfisherImageSettable>(to holder: Holder) -> DownloadTask? {
        holder.kf.setImage(
            with: source, placeholder: imagePlaceholder, parsedOptions: options,
            progressBlock: progressBlock, completionHandler: completionHandler)
    }

    /// Loads the image and gives it to `button` for `state`.
    @discardableResult
    public func set<Button: KFCrossPlatformButton>(
        to button: Button, for state: ControlState
    ) -> DownloadTask? {
        button.kf.setImage(
            with: source, for: state, placeholder: imagePlaceholder, parsedOptions: options,
            progressBlock: progressBlock, completionHandler: completionHandler)
    }

    /// Loads the image and gives it to `button` as background for `state`.
    @discardableResult
    public func setBackground<Button: KFCrossPlatformButton>(
        to button: Button, for state: ControlState
    ) -> DownloadTask? {
        button.kf.setBackgroundImage(
            with: source, for: state, placeholder: imagePlaceholder, parsedOptions: options,
            progressBlock: progressBlock, completionHandler: completionHandler)
    }

    /// Loads the image and gives it to `button`.
    @discardableResult
    public func set<Button: KFCrossPlatformToggleButton>(to button: Button) -> DownloadTask? {
        button.kf.setImage(
            with: source, placeholder: imagePlaceholder, parsedOptions: options,
            progressBlock: progressBlock, completionHandler: completionHandler)
    }

    /// Loads the image and gives it to `button` as alternate image.
    @discardableResult
    public func setAlternative<Button: KFCrossPlatformToggleButton>(
        to button: Button
    ) -> DownloadTask? {
        button.kf.setAlternateImage(
            with: source, placeholder: imagePlaceholder, parsedOptions: options,
            progressBlock: progressBlock, completionHandler: completionHandler)
    }

    private var imagePlaceholder: KFCrossPlatformImage? { placeholder as? KFCrossPlatformImage }

    private var progressBlock: DownloadProgressBlock? {
        guard onProgressDelegate.isSet else { return nil }
        let delegate = onProgressDelegate
        return { delegate.call(($0, $1)) }
    }

    private var completionHandler: ImageSettingCompletion {
        let (success, failure) = (onSuccessDelegate, onFailureDelegate)
        return { result in
            switch result {
            case .success(let value): success.call(value)
            case .failure(let error): failure.call(error)
            }
        }
    }
}
