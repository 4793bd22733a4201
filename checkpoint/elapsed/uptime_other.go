//go:build !linux

package elapsed

import "time"

// Machine is this machine's Uptime, as far as this process knows.
func Machine() (time.Duration, string) { return process() }
