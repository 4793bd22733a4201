package verb

import (
	"path/filepath"

	"orchestrator/cmd/orchestrator/replica"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// programFolders returns where to keep a copy of this program, best first. Folders that are not writable or do not
// allow programs to run are skipped.
func (c *cli) programFolders() []string {
	folders := []string{filepath.Join(c.stateHome(), "orchestrator", "bin")}
	home := thread.Lookup(c.environ, "HOME")
	for _, place := range []struct{ variable, fallback string }{
		{"XDG_CACHE_HOME", ".cache"}, {"XDG_DATA_HOME", ".local/share"},
	} {
		dir := thread.Lookup(c.environ, place.variable)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(home, place.fallback)
		}
		if filepath.IsAbs(dir) {
			folders = append(folders, filepath.Join(dir, "orchestrator", "bin"))
		}
	}
	return folders
}

// isOther reports whether a server runs another build than this program.
func isOther(info api.ServerInfo) bool {
	mine := replica.This()
	return mine != "" && info.Build != "" && mine != info.Build
}

// otherBuild returns a notice if a server runs another build.
func otherBuild(info api.ServerInfo) string {
	if !isOther(info) {
		return ""
	}
	return "the running server is another build (" + info.Version + "). Update: `orchestrator restart`"
}
