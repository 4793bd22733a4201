package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// MaxData is how many bytes of data one version may have; what is larger is handed over as a file.
const MaxData = 16 << 20

// MaxFiles is how many files one version may have.
const MaxFiles = 10_000

// Delivered returns a version of what a node hands over as stores keep it; current is the one so far, nil for none. With the
// same content that is returned, with ErrSame.
func Delivered(h HandOver, n Node, current *HandOver, now time.Time) (HandOver, error) {
	switch {
	case n.Gate:
		return HandOver{}, thread.Kindf(thread.ErrInvalid, "%s is a gate: it hands nothing over", n.Agent)
	case len(h.Data) > MaxData:
		return HandOver{}, thread.Hint(thread.Kindf(thread.ErrInvalid, "%s hands over %d bytes of data, the limit is %d", n.Agent, len(h.Data), MaxData),
			"hand it over as a file")
	case len(h.Files) > MaxFiles:
		return HandOver{}, thread.Kindf(thread.ErrInvalid, "%s hands over %d files, the limit is %d", n.Agent, len(h.Files), MaxFiles)
	}
	h.Type = cmp.Or(h.Type, OutputJSON)
	if !slices.Contains([]OutputType{OutputJSON, OutputDoc, OutputSheet, OutputImage, OutputText}, h.Type) {
		return HandOver{}, thread.Kindf(thread.ErrInvalid, "output type %q is not known", string(h.Type))
	}
	h.Task, h.Agent, h.Version, h.Current, h.Bytes = n.Task, n.Agent, 1, true, int64(len(h.Data))
	h.ID, h.Created = cmp.Or(h.ID, NewID()), utc(cmp.Or(h.Created, now))
	data := h.Data
	h.Data = ""
	h, err := kept(h)
	if err != nil {
		return HandOver{}, err
	}
	h.Data, h.Summary = data, plaintext.Cut(h.Summary, maxText)
	if current == nil {
		return h, nil
	}
	if current.Key() == h.Key() {
		return *current, ErrSame
	}
	h.Version = current.Version + 1
	return h, nil
}

// Key is a hash of all that a version hands over: two with the same one are the same.
func (h HandOver) Key() [sha256.Size]byte {
	files := slices.Clone(h.Files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for i := range files {
		files[i].Token = "" // two stagings of the same content have two
	}
	head, _ := json.Marshal([]any{h.Type, h.Summary, files}) //nolint:errchkjson // texts and numbers
	sum := sha256.New()
	sum.Write(head)
	sum.Write([]byte{'\n'})
	sum.Write([]byte(h.Data))
	return [sha256.Size]byte(sum.Sum(nil))
}

// Tokens are those by which a version or a part of it is opened, each once.
func (h HandOver) Tokens() []thread.Token {
	var all []thread.Token
	for _, f := range h.Files {
		all = append(all, f.Token)
	}
	all = append(all, h.Token)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(t thread.Token) bool { return t == "" })
}

// StaleBy returns a node after an upstream has handed over another version, and the event; false if that changes nothing. A
// node that has begun without what was missing is stale as well.
func StaleBy(old Node, upstream string, version int, now time.Time) (Node, []Event, bool) {
	at := old.State == NodeWorking || old.State == NodeDelivered || old.State == NodeAsking
	if old.Round == 0 || !at || old.Stale || old.Given[upstream] == version {
		return old, nil, false
	}
	n := old
	n.Given, n.Stale = maps.Clone(old.Given), true
	return n, []Event{{At: utc(now), Node: n.Agent, Kind: EventNote, Text: upstream + " has handed over another version than it was given"}}, true
}

// Fit returns a version as a query asks for it: with so many bytes of its data.
func (q HandOverQuery) Fit(h HandOver) HandOver {
	if q.Whole > 0 {
		h.Data = plaintext.Cut(h.Data, q.Whole)
	}
	return h
}

// Selects reports whether a query asks for a version.
func (q HandOverQuery) Selects(h HandOver) bool {
	return (q.Task == "" || q.Task == h.Task) && (q.Agent == "" || q.Agent == h.Agent) && (!q.Current || h.Current)
}

// Size returns how many versions a query may return.
func (q HandOverQuery) Size() int { return size(q.Limit) }

// Size returns how many tasks a query may return.
func (q TaskQuery) Size() int { return size(q.Limit) }

func size(limit int) int {
	if limit <= 0 {
		return 100
	}
	return min(limit, 1000)
}

// Selects reports whether a query asks for a task.
func (q TaskQuery) Selects(t Task) bool {
	return (len(q.Statuses) == 0 || slices.Contains(q.Statuses, t.Status)) && (q.Plan == "" || q.Plan == t.PlanName) &&
		(q.Session == "" || q.Session == t.Session) && (q.Server == "" || q.Server == t.Server) && (q.By == "" || q.By == t.By) &&
		!t.Created.Before(q.Since)
}

// KeptArmed checks an armed plan and returns it as stores keep it: its plan stays as it is.
func KeptArmed(a Armed, now time.Time) (Armed, error) {
	a.Name = cmp.Or(a.Name, a.Plan.Name)
	if err := checkName("plan", a.Name); err != nil {
		return Armed{}, err
	}
	if a.AtOnce < 0 {
		return Armed{}, thread.Kindf(thread.ErrInvalid, "%d tasks at once", a.AtOnce)
	}
	a.AtOnce, a.Changed = max(a.AtOnce, 1), utc(cmp.Or(a.Changed, now))
	p := a.Plan
	a.Plan = Plan{}
	a, err := kept(a)
	a.Plan = p
	return a, err
}
