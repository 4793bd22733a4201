//go:build !linux

package elapsed

import "time"

// Machine is this machine's Uptime, as far as this process saw it.
func Machine() (time.Duration, string) { return process() }
