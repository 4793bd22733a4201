package masking

import (
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/summaries"
	"orchestrator/contextmgr/wire"
)

// measurement is what is measured of a request: its contents, and how large they and the rest are.
type measurement struct {
	// results has an entry for each content of the scan.
	results []policy.Result
	uses    []policy.Use
	// sizes are the tokens of each content as it is sent: masked or not.
	sizes    []int64
	estimate int64   // of the whole request as it is sent
	masked   int64   // tokens that masks take out of it
	cost     float64 // of what was masked with this request first, in tokens of input that goes past the cache
	number   numbering
	place    summaries.Place // of the summary that stands in it
	repeats  []repeat
}

// numbering has the numbers, from 0, of the requests of a conversation.
type numbering struct {
	of   []int // of the request that had each item first
	last int   // of this request
	turn int   // of the one with which the running turn began
}

// numbers counts the requests of a conversation by the model's answers in it.
func numbers(scan *wire.Scan) numbering {
	n := numbering{of: make([]int, len(scan.Items))}
	model := false
	for i := range scan.Items {
		if scan.ByModel(i) && !model {
			n.last++
		}
		model = scan.ByModel(i)
		n.of[i] = n.last
	}
	if scan.Prompted >= 0 {
		n.turn = n.of[scan.Prompted]
	}
	return n
}

// leaveOut takes a file out of what was measured.
func (m *measurement) leaveOut(rep repeat, contents []wire.Content) {
	freed := rep.tokens - rep.size
	m.estimate -= freed
	m.masked += freed
	for i := range m.results {
		if contents[i].Start > rep.Start {
			m.results[i].Before -= freed
		}
	}
}
