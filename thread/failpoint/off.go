//go:build !failpoint

package failpoint

// Enabled reports whether this build can be killed at failpoints.
const Enabled = false

// Hit marks the place called name. In this build it does nothing.
func Hit(string) {}
