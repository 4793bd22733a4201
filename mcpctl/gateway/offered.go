package gateway

import "slices"

// ownTools describes those of our tools that a thread has, by their names.
func ownTools(names []string) []entry {
	return slices.DeleteFunc(append(readingTools(), partTools()...), func(e entry) bool { return !slices.Contains(names, e.name) })
}
