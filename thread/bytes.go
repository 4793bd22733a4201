package thread

import (
	"fmt"
	"strings"
)

// Bytes formats a size for people: 512 B, 1.5 KiB, 20 MiB.
func Bytes(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	size, units := float64(n)/(1<<10), []string{"KiB", "MiB", "GiB", "TiB"}
	for size >= 1023.95 && len(units) > 1 { // would be printed as 1024.0
		size, units = size/(1<<10), units[1:]
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", size), ".0") + " " + units[0]
}
