package work

import (
	"encoding/json"
	"reflect"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// What no number of a record exceeds. They are far above what there is, and sums of a million of them fit.
const (
	mostTokens   = 1_000_000_000_000 // of an execution, or a bundle
	mostUSD      = 1_000_000         // of an execution
	mostTimes    = 1_000_000_000     // that something was counted
	mostVersions = 1_000_000         // of a file
	mostWait     = 10 * 365 * 24 * 3600 * 1_000_000_000
)

// Check refuses what no store has, with thread.ErrInvalid: rows come from files. All numbers in it are such that sums of
// them are right, and names and ids cannot be taken for each other.
func (w Whole) Check() error {
	set := 0
	for _, there := range []bool{w.Session != nil, w.Bundle != nil, w.Execution != nil} {
		if there {
			set++
		}
	}
	bad := func(what string) error {
		return thread.Kindf(thread.ErrInvalid, "row %q: %s", thread.Excerpt(w.Name()), what)
	}
	switch {
	case set != 1, CheckOwnName(w.Name()) != nil:
		return bad("it is none of the record")
	case w.Session != nil:
		return w.checkSession(bad)
	case w.Bundle != nil:
		return w.checkBundle(bad)
	default:
		return w.checkExecution(bad)
	}
}

func (w Whole) checkSession(bad func(string) error) error {
	s := *w.Session
	if _, err := keptSession(s, s.Updated); err != nil || longest(s) > maxText {
		return bad("its status, its phase, a text or a number of it is not known")
	}
	if !idOrNone(s.By) || !saneBudget(s.Budget) {
		return bad("its author or its budget cannot be")
	}
	for _, t := range w.Tasks {
		if _, err := keptTask(t, t.Updated); err != nil || t.Session != s.Name || longest(t) > maxText || !idOrNone(t.By) {
			return bad("a task is not one of it")
		}
	}
	return nil
}

func (w Whole) checkBundle(bad func(string) error) error {
	b := *w.Bundle
	hashes := func(all []string) bool {
		return len(all) == len(b.Bundle.Items) && !slices.ContainsFunc(all, func(h string) bool { return h != "" && !isHash(h) })
	}
	switch {
	case !isHash(b.Hash), isHash(b.Bundle.ID):
		return bad("it has no hash, or one for a name")
	case !hashes(b.Pieces), !hashes(b.Sources):
		return bad("its pieces are not those of its items")
	case !count(b.Bundle.Total, mostTokens), !count(b.Budget, mostTokens), !count(max(b.Bundle.Remaining, -b.Bundle.Remaining), mostTokens):
		return bad("its tokens cannot be")
	case !idOrNone(b.By), longest(b) > maxText:
		return bad("its author or a text of it cannot be")
	}
	for _, it := range b.Bundle.Items {
		if !count(it.Tokens, mostTokens) {
			return bad("the tokens of an item cannot be")
		}
	}
	for hash, content := range w.Pieces {
		if len(content) > maxPiece || PieceHash(content) != hash || !slices.Contains(b.Pieces, hash) {
			return bad("a piece does not match its hash, is too large, or is none of it")
		}
	}
	return nil
}

func (w Whole) checkExecution(bad func(string) error) error {
	x := *w.Execution
	if thread.ID(x.ID).Check() != nil || !slices.Contains(Kinds(), x.Kind) || !slices.Contains(States(), x.State) ||
		!idOrNone(x.Thread) || x.Thread == "" && x.Kind != KindHand || !idOrNone(x.By) {
		return bad("its id, kind, state or thread is not known")
	}
	for _, id := range []ID{x.Within, x.For, x.Instead, x.Parent, x.Replays} {
		if !idOrNone(thread.ID(id)) {
			return bad("it names an execution that cannot be")
		}
	}
	if x.Lost != "" && CheckRules(x.Lost, x.Dispose) != nil ||
		!slices.Contains([]OnFail{"", FailAsk, FailRetry, FailWait, FailFallback}, x.OnFail) {
		return bad("what follows on its end is not known")
	}
	if !sane(x) {
		return bad("a number of it cannot be")
	}
	if longest(x) > maxText || x.Question != nil && longest(*x.Question) > maxText {
		return bad("a text is too long")
	}
	last := int64(len(w.Events))
	if x.Given < 0 || x.Said < 0 || x.Given > last || x.Said > last {
		return bad("a text of it is missing")
	}
	for i, e := range w.Events {
		if e.Seq != int64(i)+1 || len(e.Text) > 2*maxWhole || len(e.Kind) > maxTitle || !count(int64(e.Attempt), mostTimes) ||
			e.State != "" && !slices.Contains(States(), e.State) {
			return bad("its events are not whole")
		}
	}
	for _, a := range w.Allocations {
		if _, err := Allocated(x, a); err != nil || !count(a.N, mostTokens) || !count(a.Tokens, mostTokens) || longest(a) > maxText {
			return bad("a piece of its context cannot be")
		}
	}
	for _, o := range w.Outputs {
		if !o.sane() {
			return bad("an output of it cannot be")
		}
	}
	return nil
}

// sane reports whether the numbers of an execution can be those of one.
func sane(x Execution) bool {
	for _, n := range []int64{int64(x.Depth), int64(x.Attempt), x.Fence, int64(x.Counted), int64(x.Calls), int64(x.Rereads), int64(x.Retries),
		int64(x.Redone), int64(max(x.Priority, -x.Priority)), int64(x.Caps.Calls) + 1, int64(x.Caps.Words) + 1} {
		if !count(n, mostTimes) {
			return false
		}
	}
	return count(x.Printed, 1<<50) && count(x.Context, mostTokens) && count(int64(x.Deadline), mostWait) && count(int64(x.Waited), mostWait) &&
		saneUsage(x.Usage) && saneUsage(x.Before) && saneBudget(x.Budget)
}

// saneUsage reports whether a usage can be the sum of some responses: Usage.Sane is for one.
func saneUsage(u thread.Usage) bool {
	for _, n := range []int64{u.Input, u.CacheRead, u.CacheWrite, u.CacheWriteHour, u.Output} {
		if !count(n, mostTokens) {
			return false
		}
	}
	return count(u.Unknown, mostTimes) && u.CostUSD >= 0 && u.CostUSD <= mostUSD
}

func saneBudget(b thread.Budget) bool {
	return (b.Tokens == nil || *b.Tokens >= 0) && (b.USD == nil || *b.USD >= 0)
}

// sane reports whether an output can be one of a store.
func (o Output) sane() bool {
	kept, err := AddedOutput(Execution{}, o, o.Created)
	if err != nil || !count(o.N, mostTokens) || !idOrNone(o.By) || longest(o.Metadata) > maxText {
		return false
	}
	if o.Path == "" && o.Version != 0 || o.Path != "" && !(o.Version >= 1 && o.Version <= mostVersions) {
		return false
	}
	if o.Type != OutputDeliverable || kept.Content[0] == '"' { // what is damaged is a text
		return true
	}
	var d Deliverable
	if json.Unmarshal(kept.Content, &d) != nil {
		return false
	}
	for _, n := range []int64{int64(d.Added), int64(d.Modified), int64(d.Deleted)} {
		if !count(n, mostTimes) {
			return false
		}
	}
	return count(d.Bytes, 1<<50)
}

// count reports whether a number can be a count of at most so many.
func count(n, most int64) bool { return n >= 0 && n <= most }

func idOrNone(id thread.ID) bool { return id == "" || id.Check() == nil }

// longest returns the size of the longest text of a record, in its structs and slices; what is raw JSON is none.
func longest[T any](v T) int { return longestOf(reflect.ValueOf(v)) }

func longestOf(v reflect.Value) (most int) {
	switch v.Kind() { //nolint:exhaustive // the others have no text
	case reflect.String:
		return v.Len()
	case reflect.Struct:
		for i := range v.NumField() {
			most = max(most, longestOf(v.Field(i)))
		}
	case reflect.Slice:
		if k := v.Type().Elem().Kind(); k != reflect.String && k != reflect.Struct {
			return 0
		}
		for i := range v.Len() {
			most = max(most, longestOf(v.Index(i)))
		}
	}
	return most
}

// Clean makes a row that was checked as stores keep it: they would not give back all texts, and views would not show them.
func (w *Whole) Clean() {
	if s := w.Session; s != nil {
		if kept, err := keptSession(*s, s.Updated); err == nil {
			w.Session = &kept
		}
	}
	for i, t := range w.Tasks {
		if kept, err := keptTask(t, t.Updated); err == nil {
			w.Tasks[i] = kept
		}
	}
	if w.Bundle != nil {
		b := clean(*w.Bundle)
		w.Bundle = &b
	}
	if w.Execution == nil {
		return
	}
	x := normal(*w.Execution)
	w.Execution = &x
	for i, e := range w.Events {
		most := maxText
		if e.Kind == KindGiven || e.Kind == KindSaid {
			most = maxWhole
		}
		e = clean(e)
		e.Text = plaintext.Cut(e.Text, most)
		w.Events[i] = e
	}
	for i := range w.Allocations {
		w.Allocations[i] = clean(w.Allocations[i])
	}
	for i, o := range w.Outputs {
		o = clean(o)
		if doc, err := raw("the content of an output", o.Content, maxContent); err == nil {
			o.Content = doc
		}
		w.Outputs[i] = o
	}
}
