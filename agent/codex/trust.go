package codex

import (
	"path/filepath"

	"orchestrator/agent/world"
)

// untrusted is Codex's word for a folder that is not trusted.
const untrusted = "untrusted"

// trust returns what the person has decided about a folder: of itself, of its repository, or of the folder that it is a
// copy of; "" if nothing.
func (c config) trust(dir, origin string) string {
	projects := table(c.all, "projects")
	for _, at := range []string{dir, origin} {
		if at == "" {
			continue
		}
		places := []string{at}
		if real, err := filepath.EvalSymlinks(at); err == nil {
			places = append(places, real)
		}
		root, main := world.Repository(places[len(places)-1])
		for _, place := range append(places, root, main) {
			if said := text(table(projects, place), "trust_level"); said != "" {
				return said
			}
		}
	}
	return ""
}
