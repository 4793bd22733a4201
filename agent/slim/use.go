package slim

import (
	"fmt"
	"slices"

	"orchestrator/thread"
)

// Use returns which levers of a table a start uses, in the table's order, and why others of the names that it was given
// are not: decided says what decides a lever in its place, "" if nothing does. what names the program for people.
func Use(what string, table []thread.Lever, names []string, decided func(thread.Lever) string) (use []string, unused map[string]string) {
	if len(names) == 0 {
		return nil, nil
	}
	unused = map[string]string{}
	for _, name := range names {
		unused[name] = what + " has nothing of this name"
	}
	needs := map[string][]string{}
	for _, l := range table {
		if !slices.Contains(names, l.Name) {
			continue
		}
		delete(unused, l.Name)
		if why := decided(l); why != "" {
			unused[l.Name] = why
			continue
		}
		use, needs[l.Name] = append(use, l.Name), l.Needs
	}
	for again := true; again; { // one that goes may be needed by another
		again = false
		for _, name := range use {
			missing := slices.IndexFunc(needs[name], func(need string) bool { return !slices.Contains(use, need) })
			if missing < 0 {
				continue
			}
			unused[name] = fmt.Sprintf("without %s it would make the base larger", needs[name][missing])
			use = slices.DeleteFunc(use, func(other string) bool { return other == name })
			again = true
			break
		}
	}
	if len(unused) == 0 {
		unused = nil
	}
	return use, unused
}
