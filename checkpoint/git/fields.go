package git

import "strings"

// Fields returns what git wrote with -z: names and the like that each end with NUL.
func Fields(out []byte) []string {
	s := strings.TrimSuffix(string(out), "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}
