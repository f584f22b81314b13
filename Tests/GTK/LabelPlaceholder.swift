public import Halcyon
public import HalcyonGTK

// All that a program writes to have labels as placeholders.
extension HalcyonGTK.Label: Placeholder {}
