package verb

import (
	"path/filepath"
	"strings"

	"orchestrator/cmd/orchestrator/planfile"
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// projectPlans are the project's plans, or the one that is named, with all files that each of them names.
func projectPlans(c *cli, named []string) (acceptance, error) {
	a := acceptance{what: "Plans of this project, with all that they name:", json: map[string]any{}}
	if len(named) == 0 {
		for _, path := range plansOf(c).List() {
			if strings.HasPrefix(path, filepath.Join(c.project.Root, planfile.Folder)+string(filepath.Separator)) {
				named = append(named, path)
			}
		}
	}
	accepts := []string{}
	for _, ref := range named {
		f, _, err := findPlan(c, ref)
		if err != nil {
			return a, err
		}
		if !f.Asks {
			continue
		}
		a.parts = append(a.parts, part{f.Place(), f.Content()})
		accepts = append(accepts, f.Path)
		for _, p := range f.Parts {
			a.shown = append(a.shown, "", plaintext.Line(filepath.Join(filepath.Dir(f.Path), p.Name))+":")
			for line := range strings.Lines(string(p.Content)) {
				a.shown = append(a.shown, "  "+plaintext.Line(strings.TrimRight(line, "\r\n")))
			}
		}
		for line := range strings.Lines(string(f.Programs)) {
			a.shown = append(a.shown, plaintext.Line(strings.TrimRight(line, "\n")))
		}
	}
	if len(a.parts) == 0 {
		return a, thread.Kindf(thread.ErrNotFound, "nothing to trust: there are no plans in %s", planfile.Folder)
	}
	a.json["accepts"] = accepts
	a.note = "You accept each byte of these. What their agents then do is bounded by what the plans say, and by permissions."
	return a, nil
}
