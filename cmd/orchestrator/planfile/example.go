package planfile

import _ "embed" // the example

//go:embed example.toml
var example string

// Example is the text of a plan to copy: seven agents in two waves, with a gate at the end.
func Example() string { return example }
