extension VipsImage {
    /// The same numbers in another format, cut off at its limits; fractions are dropped.
    public func cast(to format: VipsBandFormat) throws(VipsError) -> VipsImage {
        if format == self.format { return self }
        return try apply("cast", ["format": .string(format.nickname)])
    }

    /// The nearest numbers in another format, cut off at its limits.
    public func rounded(to format: VipsBandFormat) throws(VipsError) -> VipsImage {
        switch format {
        case .uchar where self.format != .uchar:
            // Adds and converts in one pass over the pixels.
            try apply("linear", ["a": [1], "b": [0.5], "uchar": true])
        case .float, .double, .complex, .dpcomplex:
            try cast(to: format)
        default:
            try apply("round", ["round": "rint"]).cast(to: format)
        }
    }

    /// Each band multiplied by a number and added to another, as floating-point numbers.
    ///
    /// - Parameters:
    ///   - multiply: One factor per band, or one for all.
    ///   - add: One summand per band, or one for all.
    public func linear(multiply: [Double], add: [Double]) throws(VipsError) -> VipsImage {
        try apply("linear", ["a": .doubles(multiply), "b": .doubles(add)])
    }

    /// The same bands with another meaning, unchanged.
    public func interpreted(as interpretation: VipsInterpretation) throws(VipsError) -> VipsImage {
        if interpretation == self.interpretation { return self }
        return try apply("copy", ["interpretation": .string(interpretation.nickname)])
    }
}
