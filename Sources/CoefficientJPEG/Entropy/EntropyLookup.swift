/// Where an `EntropyTable` has its tables; valid as long as the table lives.
struct EntropyLookup {
    /// 2,048 entries of `ValueTable`.
    let values: UnsafePointer<UInt32>
    /// 8,192 entries of `SkipTable`; none in a table for means.
    let skips: UnsafePointer<UInt16>
    /// 17 each, of `HuffmanCode`.
    let ends: UnsafePointer<UInt32>
    let offsets: UnsafePointer<Int32>
    /// 256 words as in `ValueTable`, of symbols without value; bit 0 is set in those that may occur.
    let symbols: UnsafePointer<UInt32>
}
