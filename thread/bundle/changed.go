package bundle

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/secret"
	"orchestrator/thread/work"
)

// Changed returns an error that names the files of a bundle that are missing or have changed since it was prepared. items
// are its items with what their files hold now.
func Changed(k work.KeptBundle, items []Item) error {
	var missing, changed []string
	for i, it := range k.Bundle.Items {
		for _, now := range items {
			if now.Source != it.Source {
				continue
			}
			switch {
			case now.Missing != "":
				missing = append(missing, it.Source+": "+now.Missing)
			case i < len(k.Sources) && k.Sources[i] != "" && Sum(string(now.Content)) != k.Sources[i] && !same(k, i, now):
				changed = append(changed, it.Source)
			}
			break
		}
	}
	switch {
	case len(missing) > 0:
		return thread.Hint(thread.Kindf(thread.ErrNotFound, "%s cannot be given as it was prepared: %s", k.Bundle.ID, strings.Join(missing, "; ")),
			"Prepare it again: orchestrator bundle prepare")
	case len(changed) > 0:
		return thread.Hint(thread.Kindf(thread.ErrRefused, "changed since %s was prepared: %s", k.Bundle.ID, strings.Join(changed, ", ")),
			"Prepare it again with `orchestrator bundle prepare`, or give it as it was with --as-prepared")
	}
	return nil
}

// same reports whether the part of a changed file that an item has is what it was.
func same(k work.KeptBundle, i int, now Item) bool {
	sections := k.Bundle.Items[i].Sections
	if len(sections) == 0 || i >= len(k.Pieces) {
		return false
	}
	text, err := Sections(now.Source, string(now.Content), sections)
	return err == nil && Sum(secret.Redact(text)) == k.Pieces[i]
}
