package checkpointtest

import "runtime/debug"

// Raced reports whether the race detector watches: it empties pools at random and makes compression many times slower.
func Raced() bool {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return false
	}
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}
