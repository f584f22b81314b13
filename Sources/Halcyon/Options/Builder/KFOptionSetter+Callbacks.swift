@MainActor extension KFOptionSetter {
    /// Sets what is called with bytes received and bytes expected, on the main queue. Not called when
    /// the total is unknown.
    public func onProgress(_ block: DownloadProgressBlock?) -> Self {
        setting { setter in
            setter.onProgressDelegate.set(block.map { block in { block($0.0, $0.1) } })
        }
    }

    /// Sets what is called with the image that is shown, on the main actor.
    public func onSuccess(_ block: (@MainActor (RetrieveImageResult) -> Void)?) -> Self {
        setting { setter in
            setter.onSuccessDelegate.set(
                block.map { block in { result in MainActor.assumeIsolated { block(result) } } })
        }
    }

    /// Sets what is called with the reason when no image is shown, on the main actor.
    public func onFailure(_ block: (@MainActor (KingfisherError) -> Void)?) -> Self {
        setting { setter in
            setter.onFailureDelegate.set(
                block.map { block in { error in MainActor.assumeIsolated { block(error) } } })
        }
    }
}
