package pty

import (
	"bytes"
	"os"
	"slices"
	"strconv"
)

// marked reports whether a process has one of some environment entries.
func marked(pid int, entries ...string) bool {
	found := false
	environ(pid, func(kv string) bool { found = slices.Contains(entries, kv); return !found })
	return found
}

// environ iterates over the environment of a process as it was when the program was started, until see returns false.
// Another user's cannot be read.
func environ(pid int, see func(kv string) bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return
	}
	for pair := range bytes.SplitSeq(b, []byte{0}) {
		if !see(string(pair)) {
			return
		}
	}
}
