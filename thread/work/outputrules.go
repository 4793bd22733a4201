package work

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
)

const (
	// maxContent is how long the content of an output may be.
	maxContent = 1 << 20
	// maxPath is the longest path of an output, and the longest source of a piece of context, in bytes.
	maxPath = 4096
)

// AddedOutput returns an output of an execution as a store keeps it once it is added; the store numbers it. One that no store
// may accept is refused with thread.ErrInvalid.
func AddedOutput(x Execution, o Output, now time.Time) (Output, error) {
	var err error
	if !slices.Contains(OutputTypes(), o.Type) {
		return Output{}, thread.Kindf(thread.ErrInvalid, "type %q of an output is not known", string(o.Type))
	}
	if len(o.Path) > maxPath {
		return Output{}, thread.Kindf(thread.ErrInvalid, "the path of an output has %d bytes, the limit is %d", len(o.Path), maxPath)
	}
	if o.Content, err = raw("the content of an output", o.Content, maxContent); err != nil {
		return Output{}, err
	}
	if o.Created.IsZero() {
		o.Created = now
	}
	o.N, o.Execution, o.Version, o.Current = 0, x.Name, 0, true
	o.Metadata.AgentType = cmp.Or(o.Metadata.AgentType, x.AgentType())
	o.Metadata.Model = cmp.Or(o.Metadata.Model, x.Model)
	o = clean(o)
	o.Created = utc(o.Created)
	return o, nil
}

// Line is what the versions of an output are counted in, and of which the newest is current: the work session of its
// execution, or else its thread, or else the execution alone. What is seen and what is claimed are apart, and so are the
// claims of different authors: none takes the place of what another has recorded. What an agent has git look at for an
// execution that it writes down itself counts as its own, since it chose the folder; of a run or terminal of ours git sees the
// same for everybody.
func (x Execution) Line(o Output) string {
	line := "execution " + string(x.ID)
	switch {
	case x.Session != "":
		line = "session " + x.Session
	case x.Thread != "":
		line = "thread " + string(x.Thread)
	}
	switch {
	case o.Metadata.Claimed:
		line += " claimed by " + string(o.By)
	case x.Kind == KindHand && o.By != "":
		line += " by " + string(o.By)
	}
	return line
}

// DamagedOutput returns what lists show of an output whose record cannot be read.
func DamagedOutput(n int64, execution string, t OutputType) Output {
	return Output{N: n, Execution: execution, Type: t, Content: damagedText()}
}

// Size returns how many outputs a query may return.
func (q OutputQuery) Size() int { return Query{Limit: q.Limit}.Size() }

// Selects reports whether a query asks for an output of an execution.
func (q OutputQuery) Selects(x Execution, o Output) bool {
	return (q.Execution == "" || q.Execution == x.Name || q.Execution == string(x.ID)) &&
		(len(q.Of) == 0 || slices.Contains(q.Of, x.ID)) && (q.Session == "" || q.Session == x.Session) && (q.AgentType == "" || q.AgentType == x.AgentType()) &&
		(len(q.Types) == 0 || slices.Contains(q.Types, o.Type)) && (q.Path == "" || q.Path == o.Path) &&
		!o.Created.Before(q.Since) && (q.By == nil || *q.By != "" && (o.By == *q.By || x.Thread == *q.By || x.By == *q.By)) &&
		(!q.Current || o.Current) && (q.Before == 0 || o.N < q.Before)
}

// cutText is how many bytes of a text are left of one that does not fit.
const cutText = 200

// Fit returns an output as it fits into what is left of a query's Whole: a text that does not is cut. It is called for
// one after the other, with what all have left.
func (q OutputQuery) Fit(o Output, left *int) Output {
	if q.Whole == 0 {
		return o
	}
	if n := len(o.Content); n > *left && n > 2*cutText && (o.Type == OutputInsight || o.Type == OutputError) {
		var text string
		if json.Unmarshal(o.Content, &text) != nil {
			text = string(o.Content)
		}
		text = fmt.Sprintf("%s \u2026 (%d bytes in all: ask for fewer outputs at once)", strings.ToValidUTF8(text[:min(len(text), cutText)], ""), len(text))
		if cut, err := json.Marshal(text); err == nil {
			o.Content = cut
		}
	}
	*left = max(0, *left-len(o.Content))
	return o
}

// Allocated returns a piece of context of an execution as a store keeps it; thread.ErrInvalid if it may not.
func Allocated(x Execution, a Allocation) (Allocation, error) {
	if !slices.Contains([]ItemType{ItemFile, ItemBriefing, ItemReference, ItemShared}, a.Type) {
		return Allocation{}, thread.Kindf(thread.ErrInvalid, "type %q of context is not known", string(a.Type))
	}
	if a.Source == "" || len(a.Source) > maxPath {
		return Allocation{}, thread.Kindf(thread.ErrInvalid, "the source of a piece of context has 1 to %d bytes", maxPath)
	}
	if a.Tokens < 0 {
		return Allocation{}, thread.Kindf(thread.ErrInvalid, "%s has %d tokens", a.Source, a.Tokens)
	}
	a.N, a.Execution = 0, x.Name
	return clean(a), nil
}

// DamagedAllocation returns what lists show of a piece of context whose record cannot be read.
func DamagedAllocation(n int64, execution string) Allocation {
	return Allocation{N: n, Execution: execution, Type: ItemReference, Source: "its record is damaged"}
}
