package layout

// WheelLines is how many lines a notch of the wheel scrolls.
const WheelLines = 3
