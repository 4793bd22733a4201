package launch

import (
	"slices"
	"strings"
)

// DropOptions returns arguments without some options and their values.
func DropOptions(args []string, options ...string) []string {
	var kept []string
	dropping := false
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			name, _, _ := strings.Cut(arg, "=")
			dropping = slices.Contains(options, name)
		}
		if !dropping {
			kept = append(kept, arg)
		}
	}
	return kept
}
