package records

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/workdb"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// world is a project with a past: files, commits, what agents printed, and a record of it. It is written while no server
// runs.
type world struct {
	*e2e.Rig
	store *workdb.Store
	at    time.Time
	last  string // the work session that is being written
}

func newWorld(t *testing.T) *world {
	t.Helper()
	r := e2e.NewRig(t)
	s, err := workdb.Open(t.Context(), filepath.Join(r.Claimed().StateDir(), "work.db"), workdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &world{Rig: r, store: s, at: time.Now().Add(-2 * time.Hour).Truncate(time.Second).UTC()}
}

func (w *world) ok(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatal(err)
	}
}

// next goes on by a minute.
func (w *world) next() time.Time {
	w.at = w.at.Add(time.Minute)
	return w.at
}

func (w *world) session(name, scope string) {
	w.T.Helper()
	_, err := w.store.AddSession(w.T.Context(), work.Session{Name: name, Scope: scope, Phase: work.PhaseExecute, Status: work.SessionExecuting,
		Approval: work.ApproveSuggest, Created: w.next()})
	w.ok(err)
	w.last = name
}

// commit commits all files, and returns the commit.
func (w *world) commit(subject string, files map[string]string) string {
	w.T.Helper()
	for name, content := range files {
		w.Write(name, content)
	}
	w.Git("add", "-A")
	w.Git("commit", "-qm", subject)
	return strings.TrimSpace(w.Git("rev-parse", "HEAD"))
}

// did is an execution of a work session, as it is recorded and as its agent printed it.
type did struct {
	work.Execution
	asked, said string
	tools       []string
	noEnd       bool // what it printed breaks off
}

// ran records an execution of the work session that is being written, and writes what its agent printed into a file.
func (w *world) ran(state work.State, d did) work.Execution {
	w.T.Helper()
	x := d.Execution
	x.ID, x.Thread, x.Session, x.Created = thread.NewID[work.ID](), "00000000000000aa", w.last, w.next()
	if x.Agent == "" {
		x.Agent = "demo"
	}
	if x.Kind == work.KindRun {
		x.Prompt, x.Deadline, x.Lost = thread.NewID[thread.PromptID](), 10*time.Minute, work.PolicyAsk
	} else {
		x.State = work.Running
	}
	got, err := w.store.Add(w.T.Context(), x, work.Event{Kind: work.KindGiven, At: x.Created, Text: d.asked})
	w.ok(err)
	if x.Kind == work.KindRun {
		got, err = w.store.Claim(w.T.Context(), got.ID, "server", w.at)
		w.ok(err)
	}
	var events []work.Event
	for _, tool := range d.tools {
		events = append(events, work.Event{At: w.at, Kind: string(thread.RunTool), Text: tool})
	}
	if d.said != "" {
		events = append(events, work.Event{At: w.at, Kind: work.KindSaid, Text: d.said})
	}
	states := []work.State{work.Running, state}
	if x.Kind != work.KindRun {
		states = states[1:]
	}
	for _, s := range states {
		got, err = w.store.Change(w.T.Context(), got.ID, got.Fence, func(y *work.Execution) error {
			y.State, y.Reason, y.Failure, y.Usage, y.Answer = s, x.Reason, x.Failure, x.Usage, thread.Excerpt(d.said)
			y.Model, y.Chosen, y.For, y.Instead, y.Fallback = x.Model, x.Chosen, x.For, x.Instead, x.Fallback
			if y.Started.IsZero() {
				y.Started = x.Created
			}
			if s.Final() {
				y.Ended = w.next()
			}
			return nil
		}, events...)
		w.ok(err)
		events = nil
	}
	w.log(got, d)
	return got
}

// log writes what an agent printed, as a person has it who keeps that.
func (w *world) log(x work.Execution, d did) {
	w.T.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\nmodel: %s\n\n> %s\n\n", x.Agent, x.Created.Format(time.DateTime), x.Model, strings.ReplaceAll(d.asked, "\n", "\n> "))
	for _, t := range d.tools {
		fmt.Fprintf(&b, "* %s\n  ok\n", t)
	}
	if !d.noEnd {
		fmt.Fprintf(&b, "\n%s\n", d.said)
		if x.Reason != "" {
			fmt.Fprintf(&b, "error: %s\n", x.Reason)
		}
	}
	e2e.Put(w.T, filepath.Join(w.Home, "logs", w.last, x.Name+".log"), b.String())
}

func (w *world) bundle(id, agentType, scope string, files ...string) work.KeptBundle {
	w.T.Helper()
	b := work.KeptBundle{Bundle: work.Bundle{ID: id, AgentType: agentType, Scope: scope, Created: w.next()}, Session: w.last}
	pieces := map[string][]byte{}
	all := sha256.New()
	for _, f := range files {
		content := []byte(w.Read(f))
		hash := sum(content)
		tokens := int64(len(content)/4 + 1)
		b.Bundle.Items = append(b.Bundle.Items, work.BundleItem{Type: work.ItemFile, Source: f, Tokens: tokens, Priority: work.Required})
		b.Pieces, b.Sources = append(b.Pieces, hash), append(b.Sources, hash)
		b.Bundle.Total += tokens
		pieces[hash] = content
		fmt.Fprint(all, id, hash)
	}
	b.Bundle.Remaining, b.Hash = 200_000-b.Bundle.Total, hex.EncodeToString(all.Sum(nil))
	got, err := w.store.PutBundle(w.T.Context(), b, pieces)
	w.ok(err)
	return got
}

// give records that an execution was given a bundle, but for what is left out.
func (w *world) give(x work.Execution, b work.KeptBundle, leftOut ...string) {
	w.T.Helper()
	var all []work.Allocation
	for i, item := range b.Bundle.Items {
		a := work.Allocation{Type: item.Type, Source: item.Source, Tokens: item.Tokens, Bundle: b.Bundle.ID, Priority: item.Priority, Included: true, Hash: b.Pieces[i]}
		for _, l := range leftOut {
			if l == item.Source {
				a.Included, a.Priority = false, work.Recommended
			}
		}
		all = append(all, a)
	}
	w.ok(w.store.Allocate(w.T.Context(), x.ID, all))
}

func (w *world) delivers(x work.Execution, path string, added int, said, checked *work.Validation) {
	w.T.Helper()
	content := []byte(w.Read(path))
	raw, err := json.Marshal(work.Deliverable{Path: path, Added: added, Blob: blob(content), Claimed: said, Validation: checked})
	w.ok(err)
	_, err = w.store.AddOutputs(w.T.Context(), x.ID, []work.Output{{Type: work.OutputDeliverable, Path: path, Content: raw, Created: w.at}})
	w.ok(err)
}

func sum(content []byte) string {
	h := sha256.Sum256(content)
	return hex.EncodeToString(h[:])
}

func blob(content []byte) string {
	h := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content))
	return hex.EncodeToString(h[:])
}

// reads is what an agent calls on its way.
func reads(files ...string) (out []string) {
	for _, f := range files {
		out = append(out, fmt.Sprintf(`Read {"file_path":%q}`, f))
	}
	return append(out, `Bash {"command":"ls"}`, `Bash {"command":"git status"}`, `Grep {"pattern":"search"}`, `Edit {"file_path":"lib/search.ts"}`)
}
