package masking

import (
	"slices"

	"orchestrator/contextmgr/policy"
)

// soon is within how many requests a masked result that is read again should not have been masked.
const soon = 15

// part is a part of a file that was read.
type part struct{ file, part string }

// rereads counts what was read again soon after it was masked.
type rereads struct {
	count  int
	masked map[part]int // what was read and is masked, since which request
}

// mask notes that what was read is masked from a request on.
func (r *rereads) mask(p part, request int) {
	if p.file != "" {
		r.masked[p] = request
	}
}

// look counts what the newest results of a request read again.
func (r *rereads) look(m measurement) {
	for i, res := range slices.Backward(m.results) {
		if res.Request < m.number.last {
			break
		}
		again := part{res.Reads, m.uses[i].Part}
		at, ok := r.masked[again]
		if ok && m.number.last-at <= soon && res.Kind != policy.KindInput || res.Kind == policy.KindRetrieval {
			r.count++
			delete(r.masked, again)
		}
	}
}
