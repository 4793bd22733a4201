package ui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"orchestrator/thread"
	"orchestrator/ui/layout"
)

// server is a fake of the server: what it was asked is noted, what it answers is set by the test.
type server struct {
	threads []thread.Status
	lists   chan struct{} // holds List up until it is closed, where it is set
	events  chan thread.Event
	seq     int64
	mu      sync.Mutex // guards calls: several may run at once
	calls   []string
	err     error // of whatever changes something

	checkpoints []thread.Checkpoint
	entries     []thread.Entry
	files       []thread.FileDiff
	report      thread.StateReport
	merge       thread.MergeReport
	dirty       []string // what is not committed where a merge goes
	hits        []thread.Hit
	agents      []thread.AgentInfo
	mcp         thread.MCPReport
	mcps        map[string]thread.MCPReport // of threads that have others
	mcpErr      error                       // of reports
	mcpAsked    []string                    // threads whose servers were asked for
	mcpHold     chan struct{}               // holds reports up until something is sent, where it is set
	switchHold  chan struct{}               // holds switches up until something is sent, where it is set
	mcpFlying   int
	mcpMost     int // reports that were asked for at the same time
	details     map[string]thread.MCPDetail
	prompts     []thread.Prompt
	resumed     []thread.Status // all of them
	context     thread.ContextReport
	staged      map[string]string // by their tokens
}

func (s *server) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

func (s *server) asked(call string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if strings.HasPrefix(c, call) {
			return true
		}
	}
	return false
}

func (s *server) find(ref string) thread.Status {
	for _, t := range s.threads {
		if string(t.ID) == ref {
			return t
		}
	}
	return thread.Status{}
}

func (s *server) List(ctx context.Context) ([]thread.Status, error) {
	if s.lists != nil {
		select {
		case <-s.lists:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s.threads, nil
}
func (s *server) Events(ctx context.Context) (<-chan thread.Event, error) {
	out := make(chan thread.Event)
	in := s.events
	go func() {
		defer close(out)
		for {
			select {
			case e := <-in:
				select {
				case out <- e:
				case <-ctx.Done():
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, nil
}
func (s *server) Why(context.Context, string) (thread.StateReport, error) { return s.report, nil }
func (s *server) Seen(_ context.Context, ref string) error                { s.note("seen %s", ref); return s.err }
func (s *server) New(_ context.Context, r thread.NewRequest) (thread.Status, error) {
	s.note("new %s %q %q worktree=%v %dx%d", r.Agent, r.Name, r.Prompt, r.Worktree, r.Cols, r.Rows)
	if r.Prompt != "" {
		s.note("send to the new thread %q", r.Prompt)
	}
	return status("made", "", thread.StateStarting, 99), s.err
}
func (s *server) Fork(_ context.Context, r thread.ForkRequest) (thread.Status, error) {
	s.note("fork %s at %q label %q agent %q fresh=%v program=%q handOver=%v lines=%v", r.Thread, r.At, r.Label, r.Agent, r.Fresh,
		r.Program, r.HandOver, r.Lines)
	if r.Prompt != "" {
		s.note("send to the fork %q", r.Prompt)
	}
	return status("forked", r.Thread, thread.StateStarting, 99), s.err
}
func (s *server) Resume(_ context.Context, ref string, r thread.ResumeRequest) (thread.Status, error) {
	s.note("resume %s %dx%d handOver=%v", ref, r.Cols, r.Rows, r.HandOver)
	t := s.find(ref)
	t.State.State = thread.StateStarting
	t.Execution = &thread.Execution{ID: "new"}
	return t, s.err
}
func (s *server) ResumeAll(context.Context, int, int) ([]thread.Status, error) {
	s.note("resume all")
	return s.resumed, s.err
}
func (s *server) StopAgent(_ context.Context, ref string) error { s.note("stop %s", ref); return s.err }
func (s *server) Ask(_ context.Context, ref string, r thread.AskRequest) (thread.Prompt, error) {
	s.note("send %s %q lines=%v", ref, r.Text, r.Lines)
	p := thread.Prompt{ID: "p-new", Thread: thread.ID(ref), Text: r.Text, State: thread.PromptOpen}
	if s.find(ref).State.State == thread.StateWorking {
		p.State, p.Reason = thread.PromptQueued, "its agent works"
	}
	return p, s.err
}
func (s *server) Prompts(_ context.Context, ref string, _ bool) ([]thread.Prompt, error) {
	s.note("prompts %s", ref)
	return s.prompts, nil
}
func (s *server) EditPrompt(_ context.Context, id thread.PromptID, text string) (thread.Prompt, error) {
	s.note("edit %s %q", id, text)
	return thread.Prompt{ID: id, State: thread.PromptQueued, Text: text}, s.err
}
func (s *server) CancelPrompt(_ context.Context, id thread.PromptID) (thread.Prompt, error) {
	s.note("withdraw %s", id)
	return thread.Prompt{ID: id, State: thread.PromptCancelled}, s.err
}
func (s *server) AskAgain(_ context.Context, id thread.PromptID) (thread.Prompt, error) {
	s.note("again %s", id)
	return thread.Prompt{ID: "p-again", Thread: "auth-feature-a3f2", Again: id, State: thread.PromptOpen}, s.err
}
func (s *server) AnswerOffer(_ context.Context, id, answer string) (thread.Status, error) {
	s.note("offer %s %s", id, answer)
	return thread.Status{}, s.err
}
func (s *server) Rename(_ context.Context, ref, name string) (thread.Status, error) {
	s.note("rename %s %s", ref, name)
	return thread.Status{}, s.err
}
func (s *server) Pin(_ context.Context, ref string, on bool) error {
	s.note("pin %s %v", ref, on)
	return s.err
}
func (s *server) Archive(_ context.Context, ref string) error {
	s.note("archive %s", ref)
	return s.err
}
func (s *server) Unarchive(_ context.Context, ref string) error {
	s.note("unarchive %s", ref)
	return s.err
}
func (s *server) Grant(_ context.Context, ref string, add, remove []thread.Grant) error {
	s.note("grant %s +%v -%v", ref, add, remove)
	return s.err
}
func (s *server) Abandon(_ context.Context, ref, why string) error {
	s.note("abandon %s %q", ref, why)
	return s.err
}
func (s *server) Delete(_ context.Context, ref string) error { s.note("delete %s", ref); return s.err }
func (s *server) Undelete(_ context.Context, ref string) error {
	s.note("undelete %s", ref)
	return s.err
}
func (s *server) Timeline(_ context.Context, ref string, p thread.Page) ([]thread.Checkpoint, error) {
	var out []thread.Checkpoint
	for _, c := range s.checkpoints {
		if (c.Rewound || c.Kind == thread.KindPrompt) && !p.All {
			continue
		}
		if p.Before == 0 || int64(c.Turn) < p.Before {
			out = append(out, c)
		}
	}
	return out, nil
}
func (s *server) Turn(context.Context, string, string) ([]thread.Entry, error) { return s.entries, nil }
func (s *server) Diff(_ context.Context, r thread.DiffRequest) ([]thread.FileDiff, error) {
	s.note("diff %s %s..%s", r.Thread, r.From, r.To)
	return s.files, nil
}
func (s *server) Context(_ context.Context, ref string) (thread.ContextReport, error) {
	s.note("context %s", ref)
	r := s.context
	r.Thread = thread.ID(ref)
	return r, s.err
}
func (s *server) Retrieve(_ context.Context, token string, most int64) ([]byte, error) {
	s.note("retrieve %s", token)
	data, ok := s.staged[token]
	if !ok {
		return nil, fmt.Errorf("%s: %w", token, thread.ErrNotFound)
	}
	return []byte(data[:min(int64(len(data)), most)]), nil
}
func (s *server) ChangeContext(_ context.Context, c thread.ContextChange) (thread.ContextReport, error) {
	mode := "-"
	if c.Mode != nil {
		mode = fmt.Sprintf("%q", *c.Mode)
	}
	switch {
	case c.Summarise != "":
		s.note("summarise %s by %s", c.Thread, c.Summarise)
	case c.DropSummary != "":
		s.note("drop the summary %s of %s", c.DropSummary, c.Thread)
	default:
		s.note("change the context of %s mask=%v unmask=%v pin=%v unpin=%v mode=%s", c.Thread, c.Mask, c.Unmask, c.Pin, c.Unpin, mode)
	}
	if s.err == nil {
		change(&s.context, c)
	}
	r := s.context
	r.Thread = thread.ID(c.Thread)
	return r, s.err
}
func (s *server) Rewind(_ context.Context, r thread.RewindRequest) (thread.RewindReport, error) {
	s.note("rewind %s to %s files=%v conversation=%v", r.Thread, r.At, r.Files, r.Conversation)
	return thread.RewindReport{Safety: "safe", Turn: 2}, s.err
}
func (s *server) Find(_ context.Context, q string, _ int) ([]thread.Hit, error) {
	s.note("find %q", q)
	return s.hits, nil
}
func (s *server) Merge(_ context.Context, r thread.MergeRequest) (thread.MergeReport, error) {
	if r.NoteOnly {
		s.note("send the note of %s into=%q", r.Thread, r.Into)
		return thread.MergeReport{Told: true}, s.err
	}
	s.note("merge %s dry=%v finish=%v into=%q commit=%v", r.Thread, r.DryRun, r.Finish, r.Into, r.CommitInto)
	if len(s.dirty) > 0 && !r.CommitInto {
		return thread.MergeReport{}, fmt.Errorf("the merge would overwrite what is not committed: %w", thread.ErrConflict)
	}
	report := s.merge
	report.Committed = s.dirty
	return report, s.err
}
func (s *server) MergeContinue(_ context.Context, ref string) (thread.MergeReport, error) {
	s.note("continue %s", ref)
	return s.merge, s.err
}
func (s *server) MergeAbort(_ context.Context, ref string) error {
	s.note("abort %s", ref)
	return s.err
}
func (s *server) SetOffers(_ context.Context, mode thread.OfferMode) error {
	s.note("offers %s", mode)
	return s.err
}
func (s *server) Push(_ context.Context, r thread.PushRequest) (thread.PushReport, error) {
	s.note("push %s pr=%v", r.Thread, r.PR)
	report := thread.PushReport{Branch: "orchestrator/" + r.Thread, Remote: "origin"}
	if r.PR {
		report.PR = "https://example.org/pr/1"
	}
	return report, s.err
}
func (s *server) Export(_ context.Context, r thread.TransferRequest) (thread.Status, error) {
	s.note("export %s to %s files=%v", r.Thread, r.File, !r.NoFiles)
	return thread.Status{}, s.err
}
func (s *server) Import(_ context.Context, r thread.TransferRequest) (thread.Status, error) {
	s.note("import %s", r.File)
	return status("brought", "", thread.StateExited, 99), s.err
}
func (s *server) Collect(_ context.Context, r thread.CollectRequest) (thread.Collected, error) {
	s.note("collect dry=%v", r.DryRun)
	return thread.Collected{Threads: []thread.Dropped{{Name: "old-one-77aa", Bytes: 2048, Why: "archived 40 days ago"}}, Freed: 2048}, s.err
}
func (s *server) Agents(context.Context) ([]thread.AgentInfo, error) { return s.agents, nil }
func (s *server) MCP(ctx context.Context, q thread.MCPQuery) (thread.MCPReport, error) {
	s.mu.Lock()
	s.mcpAsked = append(s.mcpAsked, q.Thread)
	s.mcpFlying++
	s.mcpMost = max(s.mcpMost, s.mcpFlying)
	r, err := s.mcpOf(q.Thread), s.mcpErr
	s.mu.Unlock()
	if s.mcpHold != nil {
		select {
		case <-s.mcpHold:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mcpFlying--
	return r, err
}

// mcpOf returns the servers of a thread. mu is held.
func (s *server) mcpOf(id string) thread.MCPReport {
	r, ok := s.mcps[id]
	if !ok {
		r = s.mcp
	}
	r.Servers = slices.Clone(r.Servers)
	return r
}

func (s *server) MCPDetail(_ context.Context, a thread.MCPAct) (thread.MCPDetail, error) {
	s.note("mcp detail of %s for %s", a.Server, a.Thread)
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.details[a.Server]
	d.List = slices.Clone(d.List)
	for _, x := range s.mcpOf(a.Thread).Servers {
		if x.ID == a.Server {
			x.Hash = cmp.Or(d.Hash, x.Hash) // it may be newer than the report
			d.MCPServer = x
		}
	}
	return d, s.err
}

func (s *server) SwitchMCP(_ context.Context, c thread.MCPChange) (thread.MCPReport, error) {
	s.note("switch mcp %s %q of %s on=%v force=%v", c.Server, c.Tool, c.Thread, c.On, c.Force)
	if s.switchHold != nil {
		<-s.switchHold
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return thread.MCPReport{}, s.err
	}
	if c.Tool != "" {
		for i, t := range s.details[c.Server].List {
			if t.Name == c.Tool {
				s.details[c.Server].List[i].On = c.On
			}
		}
		return s.mcpOf(c.Thread), nil
	}
	r := s.mcpOf(c.Thread)
	for i := range r.Servers {
		x := &r.Servers[i]
		if x.ID != c.Server {
			continue
		}
		working := s.find(c.Thread).State.State == thread.StateWorking
		x.Ending = !c.On && x.On && working && !c.Force
		x.On, x.By, x.Why = c.On || x.Ending, thread.MCPPerson, ""
	}
	if s.mcps == nil {
		s.mcps = map[string]thread.MCPReport{}
	}
	s.mcps[c.Thread] = r
	return s.mcpOf(c.Thread), nil
}

func (s *server) ActMCP(_ context.Context, a thread.MCPAct) (thread.MCPDetail, error) {
	s.note("mcp %s %s for %s hash=%q", a.Act, a.Server, a.Thread, a.Hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.mcp.Servers {
		if x := &s.mcp.Servers[i]; x.ID == a.Server && s.err == nil {
			x.Accepted = (x.Accepted || a.Act == "approve" && a.Hash == x.Hash) && a.Act != "revoke"
		}
	}
	return thread.MCPDetail{}, s.err
}

// change changes a report as a server would.
func change(r *thread.ContextReport, c thread.ContextChange) {
	r.Results = slices.Clone(r.Results)
	for i := range r.Results {
		x := &r.Results[i]
		named := func(ids []string) bool {
			return slices.Contains(ids, x.ID) || slices.Contains(ids, "all") && x.Kept == "" && !x.Pinned
		}
		x.Pinned = (x.Pinned || named(c.Pin) || named(c.Unmask)) && !named(c.Unpin)
		x.Masked = (x.Masked || named(c.Mask)) && !named(c.Unmask)
	}
	if c.Summarise != "" {
		r.Offer = nil
		r.Summaries = append(r.Summaries, thread.ContextSummary{ID: "written", Text: "## Goal\nto go on", Tokens: 3900, Replaced: 84000})
	}
	r.Summaries = slices.DeleteFunc(slices.Clone(r.Summaries), func(s thread.ContextSummary) bool { return s.ID == c.DropSummary })
	if c.Mode != nil {
		r.Mode, r.Why = *c.Mode, "set for this thread"
	}
}

// pane is a fake of the live pane.
type pane struct {
	shown     thread.ID
	box       layout.Box
	focus     bool
	suspended bool
	keys      []string
}

func (p *pane) Show(id thread.ID) tea.Cmd { p.shown = id; return nil }
func (p *pane) Place(b layout.Box)        { p.box = b }
func (p *pane) Suspend(on bool)           { p.suspended = on }
func (p *pane) Focus(on bool)             { p.focus = on }
func (p *pane) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		p.keys = append(p.keys, msg.String())
	case tea.PasteMsg:
		p.keys = append(p.keys, "paste "+msg.Content)
	}
	return nil
}
