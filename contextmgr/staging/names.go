package staging

import (
	"strings"

	"orchestrator/thread/ground/atomicfile"
)

// isNew reports whether a name is that of a document being written.
func isNew(name string) bool {
	stem, ok := strings.CutPrefix(name, atomicfile.Begin)
	return ok && isHex(stem, 16)
}

// dataOf returns the stem of the name of a data file: the token's digits if data is set, otherwise the name of data
// that has no token yet. It is empty for other files.
func dataOf(name string) (stem string, data bool) {
	if stem, ok := strings.CutSuffix(name, partEnd); ok {
		if isHex(stem, 16) {
			return stem, false
		}
		return "", false
	}
	for _, end := range suffixes() {
		if stem, ok := strings.CutSuffix(name, end); ok && digitsOf(stem+documentEnd) == stem {
			return stem, true
		}
	}
	return "", false
}

func isHex(s string, n int) bool { return len(s) == n && strings.Trim(s, "0123456789abcdef") == "" }
