package record

import (
	"cmp"
	"slices"

	"orchestrator/thread/work"
)

// findings says what a person must know who looks for what went wrong: first what is wrong in any case.
func findings(f facts) []Finding {
	var all []Finding
	for _, find := range []func(facts) []Finding{
		ended, checks, spending, subAgents, prepared, olderVersions, comparison, base, instead, results,
	} {
		all = append(all, find(f)...)
	}
	for i := range all {
		all[i].Note = all[i].Note || beside(f.x, all[i].Code)
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

// beside reports whether a finding stands beside the cause of a failure that is known, and so is a remark only: what is
// odd about its context leads nowhere when the provider was away.
func beside(x work.Execution, code FindingCode) bool {
	if x.State != work.Failed || x.Failure.Code == "" || x.Failure.Code == work.CodeAgent && x.Failure.Status == 0 {
		return false
	}
	switch code {
	case FoundFailed, FoundLied, FoundRefused, FoundGap:
		return false
	case FoundOver, FoundFull:
		return x.Failure.Code != work.CodeOverflow
	case FoundGone:
		return x.Failure.Code != work.CodeContext
	case FoundNative:
		return x.Failure.Class != work.ClassAgent
	default:
		return true
	}
}
