package work

import (
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// Dependency says that one piece of work comes before another.
type Dependency struct{ Before, After string }

// The bounds of dependencies.
const (
	mostDepends    = 1000
	mostDependName = 200
)

// ParseDependencies reads dependencies as people write them: "A->B,B->C->D". Those that come round to where they began are
// an error that names the way.
func ParseDependencies(text string) ([]Dependency, error) {
	var all []Dependency
	for chain := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(chain) == "" {
			continue
		}
		names := strings.Split(chain, "->")
		for i := range names {
			names[i] = strings.TrimSpace(names[i])
			if names[i] == "" || len(names) < 2 || len(names[i]) > mostDependName {
				return nil, thread.Kindf(thread.ErrInvalid, "dependency %q: write A->B, several with commas",
					plaintext.Short(strings.TrimSpace(chain), 80))
			}
			if i > 0 {
				all = append(all, Dependency{names[i-1], names[i]})
			}
		}
		if len(all) > mostDepends {
			return nil, thread.Kindf(thread.ErrInvalid, "more than %d dependencies", mostDepends)
		}
	}
	if way := Cycle(all); way != nil {
		return nil, thread.Hint(thread.Kindf(thread.ErrInvalid, "the dependencies come round: %s", strings.Join(way, " -> ")),
			"Leave one of them out: nothing of it could begin")
	}
	return all, nil
}

// Cycle returns a way through dependencies that comes round to where it began, nil if there is none.
func Cycle(all []Dependency) []string {
	after := map[string][]string{}
	var names []string
	for _, d := range all {
		if _, known := after[d.Before]; !known {
			names = append(names, d.Before)
		}
		after[d.Before] = append(after[d.Before], d.After)
	}
	done := map[string]bool{}
	var way []string
	var walk func(name string) []string
	walk = func(name string) []string {
		if i := slices.Index(way, name); i >= 0 {
			return append(slices.Clone(way[i:]), name)
		}
		if done[name] {
			return nil
		}
		way = append(way, name)
		for _, next := range after[name] {
			if found := walk(next); found != nil {
				return found
			}
		}
		way = way[:len(way)-1]
		done[name] = true
		return nil
	}
	for _, name := range names {
		if found := walk(name); found != nil {
			return found
		}
	}
	return nil
}
