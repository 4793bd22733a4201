package git

import "strings"

// Alternate quotes a path for git's list of object folders, GIT_ALTERNATE_OBJECT_DIRECTORIES.
func Alternate(path string) string {
	if !strings.ContainsAny(path, "\":") {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}
