package record

import (
	"cmp"
	"slices"
)

// findings says what a person must know who looks for what went wrong: first what is wrong in any case.
func findings(f facts) []Finding {
	var all []Finding
	for _, find := range []func(facts) []Finding{
		ended, checks, spending, subAgents, prepared, olderVersions, comparison, base, instead, results,
	} {
		all = append(all, find(f)...)
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(weight(a), weight(b)) })
	return all
}

func weight(f Finding) int {
	if f.Note {
		return 1
	}
	return 0
}
