package match

import (
	"fmt"
	"math"
	"strings"
)

// Suggestion is a server that a task may need.
type Suggestion struct {
	Server string
	Why    string  // "3 of 5 similar tasks used it"
	Score  float64 // 1 is just enough
}

// When a server is suggested: such that of tasks that need no server at most 2 % get a suggestion. Scores are counted in
// words that only one server has.
const (
	maxSuggestions = 3
	enough         = 3.4
	alikeEnough    = 2   // similar tasks that used it
	alikeSum       = 0.7 // their similarity together
)

// Suggest returns the servers that a task is likely to need, the likeliest first: often none.
func (x *Index) Suggest(task string) []Suggestion {
	var near []neighbour
	if x.memory != nil {
		near = x.memory.near(clip(task))
	}
	unit := math.Log(1 + (float64(len(x.ids))-0.5)/1.5)
	var list []Suggestion
	for _, s := range x.Rank(task, maxSuggestions) {
		used, sum := 0, 0.0
		for _, n := range near {
			if n.called(s.Server) {
				used++
				sum += n.similarity
			}
		}
		habit := used >= alikeEnough && 2*used > len(near) && sum >= alikeSum
		score := s.Score / unit / enough
		switch {
		case habit:
			why := fmt.Sprintf("%d of %d similar tasks used it", used, len(near))
			list = append(list, Suggestion{Server: s.Server, Why: why, Score: max(score, sum/alikeSum)})
		case score >= 1 && len(s.Terms) > 1:
			list = append(list, Suggestion{Server: s.Server, Why: "it is about " + said(s.Terms), Score: score})
		}
	}
	return list
}

// said joins words: "customers, invoices and refunds".
func said(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
