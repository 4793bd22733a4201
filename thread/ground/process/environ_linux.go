package process

import (
	"bytes"
	"os"
	"strconv"
)

// Environ iterates over the environment of a process as it was when the program was started, until see returns false.
// Another user's cannot be read.
func Environ(pid int, see func(kv string) bool) {
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
