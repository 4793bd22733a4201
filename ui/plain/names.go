package plain

import (
	"fmt"
	"strings"
)

// Names lists a few names and says how many more there are.
func Names(names []string) string {
	const most = 3
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}
