// Clocks, gates and lists of events come with this module.
@_exported public import HalcyonTesting
