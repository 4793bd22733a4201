package elapsed

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Machine is this machine's Uptime.
func Machine() (time.Duration, string) {
	var ts unix.Timespec
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return process()
	}
	return time.Duration(ts.Nano()), strings.TrimSpace(string(id))
}
