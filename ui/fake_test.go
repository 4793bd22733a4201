package ui

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/budget"
	"orchestrator/thread/record"
	"orchestrator/thread/spending"
	"orchestrator/ui/follow"
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
	archive     []thread.Status // what no list has
	agents      []thread.AgentInfo
	mcp         thread.MCPReport
	mcps        map[string]thread.MCPReport // of threads that have others
	mcpErr      error                       // of reports
	mcpAsked    []string                    // threads whose servers were asked for
	forkTakes   time.Duration
	mcpHold     chan struct{} // holds reports up until something is sent, where it is set
	switchHold  chan struct{} // holds switches up until something is sent, where it is set
	mcpFlying   int
	mcpMost     int // reports that were asked for at the same time
	details     map[string]thread.MCPDetail
	prompts     []thread.Prompt
	resumed     []thread.Status // all of them
	context     thread.ContextReport
	base        thread.BaseReport
	staged      map[string]string // by their tokens
	spent       []spending.Spent
	budgets     []budget.Account
	costs       []spending.Query // what was asked of it
	glance      record.Glance
	page        record.Page
	glances     []record.OverviewRequest // what was asked of it
	tasks       tasks
	quotas      []thread.Quota
	log         []thread.Happening
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

// Do makes a call of the API.
func (s *server) Do(ctx context.Context, name string, req, resp any) error {
	do, ok := s.calling()[name]
	if !ok {
		return fmt.Errorf("%s is no call that the interface makes", name)
	}
	got, err := do(ctx, req)
	if err == nil && resp != nil {
		reflect.ValueOf(resp).Elem().Set(reflect.ValueOf(got))
	}
	return err
}

// handlers answer calls, by their names.
type handlers map[string]func(ctx context.Context, req any) (any, error)

func answer[Req, Resp any](h handlers, c api.Call[Req, Resp], f func(context.Context, Req) (Resp, error)) {
	h[c.Name()] = func(ctx context.Context, req any) (any, error) { return f(ctx, req.(Req)) }
}

func obey[Req any](h handlers, c api.Command[Req], f func(context.Context, Req) error) {
	h[c.Name()] = func(ctx context.Context, req any) (any, error) { return struct{}{}, f(ctx, req.(Req)) }
}

// Glance returns what was asked for of the record, and what is in work sessions that are open.
func (s *server) Glance(_ context.Context, q record.OverviewRequest) (record.Glance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.glances = append(s.glances, q)
	g := record.Glance{More: s.glance.More}
	for i, one := range s.glance.Sessions {
		if len(q.Only) > 0 && !slices.Contains(q.Only, one.Session.Name) {
			continue
		}
		if !slices.Contains(q.Open, one.Session.Name) && !(q.Newest && i == 0) {
			one.Tasks, one.Executions = nil, nil
		}
		g.Sessions = append(g.Sessions, one)
	}
	if len(q.Only) == 0 {
		g.Loose = s.glance.Loose
	}
	return g, s.err
}

func (s *server) Cost(_ context.Context, q spending.Query) (spending.Report, error) {
	s.mu.Lock()
	s.costs = append(s.costs, q)
	s.mu.Unlock()
	if s.err != nil {
		return spending.Report{}, s.err
	}
	r := spending.SumUp(s.spent, time.Now().Format(time.DateOnly), q)
	for i := range r.Groups {
		if s := s.find(string(r.Groups[i].Spent.Thread)); q.By == spending.ByThread && s.ID != "" {
			r.Groups[i].Name = s.DisplayName()
		}
	}
	r.Quotas, r.Budgets = thread.Tightest(s.quotas, time.Now()), s.budgets
	return r, nil
}

func (s *server) EventLog(context.Context, thread.HappeningQuery) (thread.HappeningList, error) {
	return thread.HappeningList{Happenings: slices.Clone(s.log)}, s.err
}

func (s *server) calling() handlers {
	h := handlers{}
	answer(h, api.EventLog, s.EventLog)
	answer(h, api.List, s.List)
	answer(h, api.Archived, s.Archived)
	answer(h, api.Status, s.Status)
	answer(h, api.Why, s.Why)
	answer(h, api.New, s.New)
	answer(h, api.Fork, s.Fork)
	s.executions(h)
	answer(h, api.Resume, s.Resume)
	answer(h, api.ResumeAll, s.ResumeAll)
	answer(h, api.Ask, s.Ask)
	answer(h, api.Prompts, s.Prompts)
	answer(h, api.EditPrompt, s.EditPrompt)
	answer(h, api.CancelPrompt, s.CancelPrompt)
	answer(h, api.AskAgain, s.AskAgain)
	answer(h, api.AnswerOffer, s.AnswerOffer)
	answer(h, api.Answer, s.Answer)
	answer(h, api.Rename, s.Rename)
	answer(h, api.SetGrants, s.SetGrants)
	answer(h, api.Timeline, s.Timeline)
	answer(h, api.Turn, s.Turn)
	answer(h, api.Diff, s.Diff)
	answer(h, api.Context, s.Context)
	answer(h, api.Base, s.Base)
	answer(h, api.ChangeContext, s.ChangeContext)
	answer(h, api.Rewind, s.Rewind)
	answer(h, api.Find, s.Find)
	answer(h, api.Merge, s.Merge)
	answer(h, api.MergeContinue, s.MergeContinue)
	answer(h, api.Push, s.Push)
	answer(h, api.Export, s.Export)
	answer(h, api.Import, s.Import)
	answer(h, api.Collect, s.Collect)
	answer(h, api.Agents, s.Agents)
	answer(h, api.Cost, s.Cost)
	answer(h, api.WorkGlance, s.Glance)
	answer(h, api.WaveGlance, s.WaveGlance)
	answer(h, api.WaveStatus, s.WaveStatus)
	answer(h, api.AnswerWave, s.AnswerWave)
	answer(h, api.RetryWave, s.RetryWave)
	answer(h, api.CancelWave, s.CancelWave)
	answer(h, api.AddTask, s.AddTask)
	answer(h, api.Tasks, s.Tasks)
	answer(h, api.EditTask, s.EditTask)
	answer(h, api.StartTask, s.StartTask)
	answer(h, api.SplitTask, s.SplitTask)
	answer(h, api.WorkPage, func(context.Context, record.PageRequest) (record.Page, error) { return s.page, s.err })
	answer(h, api.MCP, s.MCP)
	answer(h, api.MCPDetail, s.MCPDetail)
	answer(h, api.SwitchMCP, s.SwitchMCP)
	answer(h, api.ActMCP, s.ActMCP)
	obey(h, api.Seen, s.Seen)
	obey(h, api.StopAgent, s.StopAgent)
	obey(h, api.Pin, s.Pin)
	obey(h, api.Archive, s.Archive)
	obey(h, api.Unarchive, s.Unarchive)
	obey(h, api.Abandon, s.Abandon)
	obey(h, api.Delete, s.Delete)
	obey(h, api.Undelete, s.Undelete)
	obey(h, api.MergeAbort, s.MergeAbort)
	obey(h, api.SetOffers, s.SetOffers)
	return h
}

func (s *server) List(ctx context.Context, _ api.None) ([]thread.Status, error) {
	if s.lists != nil {
		select {
		case <-s.lists:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s.threads, nil
}

func (s *server) Archived(context.Context, api.ArchivedRequest) (api.ArchivedPage, error) {
	return api.ArchivedPage{Threads: s.archive}, nil
}

func (s *server) Status(_ context.Context, r api.Ref) (thread.Status, error) {
	for _, t := range slices.Concat(s.threads, s.archive) {
		if string(t.ID) == r.Thread {
			return t, nil
		}
	}
	return thread.Status{}, thread.ErrNotFound
}

// Stream opens the only stream that the interface asks for: that of all events.
func (s *server) Stream(ctx context.Context, _, _ string, _ any) (<-chan thread.Event, error) {
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
func (s *server) Why(context.Context, api.Ref) (thread.StateReport, error) { return s.report, nil }
func (s *server) Seen(_ context.Context, q api.Ref) error                  { s.note("seen %s", q.Thread); return s.err }
func (s *server) New(_ context.Context, r thread.NewRequest) (thread.Status, error) {
	s.note("new %s %q %q worktree=%v %dx%d model=%q mode=%q mcp=%q args=%q", r.Agent, r.Name, r.Prompt, r.Worktree, r.Cols, r.Rows,
		r.Model, r.Flags.PermissionMode, r.MCP, r.Flags.Args)
	if r.Prompt != "" {
		s.note("send to the new thread %q", r.Prompt)
	}
	return status("made", "", thread.StateStarting, 99), s.err
}
func (s *server) Fork(_ context.Context, r thread.ForkRequest) (thread.Status, error) {
	s.note("fork %s at %q label %q agent %q fresh=%v program=%q handOver=%v lines=%v", r.Thread, r.At, r.Label, r.Agent, r.Fresh,
		r.Program, r.HandOver, r.Lines)
	if len(r.Keep) > 0 {
		s.note("the fork keeps %q", r.Keep)
	}
	if r.Prompt != "" {
		s.note("send to the fork %q", r.Prompt)
	}
	time.Sleep(s.forkTakes)
	return status("forked", r.Thread, thread.StateStarting, 99), s.err
}
func (s *server) Resume(_ context.Context, r api.ResumeRequest) (thread.Status, error) {
	s.note("resume %s %dx%d handOver=%v", r.Thread, r.Cols, r.Rows, r.HandOver)
	t := s.find(r.Thread)
	t.State.State = thread.StateStarting
	t.Execution = &thread.Execution{ID: "new"}
	return t, s.err
}
func (s *server) ResumeAll(context.Context, api.ResumeRequest) ([]thread.Status, error) {
	s.note("resume all")
	return s.resumed, s.err
}
func (s *server) StopAgent(_ context.Context, q api.Ref) error {
	s.note("stop %s", q.Thread)
	return s.err
}
func (s *server) Ask(_ context.Context, r api.AskRequest) (thread.Prompt, error) {
	s.note("send %s %q lines=%v", r.Thread, r.Text, r.Lines)
	p := thread.Prompt{ID: "p-new", Thread: thread.ID(r.Thread), Text: r.Text, State: thread.PromptOpen}
	if s.find(r.Thread).State.State == thread.StateWorking {
		p.State, p.Reason = thread.PromptQueued, "its agent works"
	}
	return p, s.err
}
func (s *server) Prompts(_ context.Context, q api.PromptsRequest) ([]thread.Prompt, error) {
	s.note("prompts %s", q.Thread)
	return s.prompts, nil
}
func (s *server) EditPrompt(_ context.Context, q api.EditRequest) (thread.Prompt, error) {
	s.note("edit %s %q", q.ID, q.Text)
	return thread.Prompt{ID: q.ID, State: thread.PromptQueued, Text: q.Text}, s.err
}
func (s *server) CancelPrompt(_ context.Context, q api.PromptRef) (thread.Prompt, error) {
	s.note("withdraw %s", q.ID)
	return thread.Prompt{ID: q.ID, State: thread.PromptCancelled}, s.err
}
func (s *server) AskAgain(_ context.Context, q api.PromptRef) (thread.Prompt, error) {
	s.note("again %s", q.ID)
	return thread.Prompt{ID: "p-again", Thread: "auth-feature-a3f2", Again: q.ID, State: thread.PromptOpen}, s.err
}
func (s *server) Answer(_ context.Context, q api.AnswerRequest) (thread.Status, error) {
	s.note("answer %s %s %q %d %q", q.Thread, q.Question, q.Means, q.Choice, q.Text)
	return s.find(q.Thread), s.err
}

func (s *server) AnswerOffer(_ context.Context, q api.OfferAnswer) (thread.Status, error) {
	s.note("offer %s %s", q.Offer, q.Answer)
	return thread.Status{}, s.err
}
func (s *server) Rename(_ context.Context, q api.RenameRequest) (thread.Status, error) {
	s.note("rename %s %s", q.Thread, q.Name)
	return thread.Status{}, s.err
}
func (s *server) Pin(_ context.Context, q api.PinRequest) error {
	s.note("pin %s %v", q.Thread, q.On)
	return s.err
}
func (s *server) Archive(_ context.Context, q api.Ref) error {
	s.note("archive %s", q.Thread)
	return s.err
}
func (s *server) Unarchive(_ context.Context, q api.Ref) error {
	s.note("unarchive %s", q.Thread)
	return s.err
}
func (s *server) SetGrants(_ context.Context, q api.GrantsRequest) (api.ThreadGrants, error) {
	s.note("grant %s +%v -%v", q.Thread, q.Add, q.Remove)
	return api.ThreadGrants{}, s.err
}
func (s *server) Abandon(_ context.Context, q api.AbandonRequest) error {
	s.note("abandon %s %q", q.Thread, q.Reason)
	return s.err
}
func (s *server) Delete(_ context.Context, q api.Ref) error {
	s.note("delete %s", q.Thread)
	return s.err
}
func (s *server) Undelete(_ context.Context, q api.Ref) error {
	s.note("undelete %s", q.Thread)
	return s.err
}
func (s *server) Timeline(_ context.Context, q api.TimelineRequest) ([]thread.Checkpoint, error) {
	var out []thread.Checkpoint
	for _, c := range s.checkpoints {
		if (c.Rewound || c.Kind == thread.KindPrompt) && !q.Page.All {
			continue
		}
		if q.Page.Before == 0 || int64(c.Turn) < q.Page.Before {
			out = append(out, c)
		}
	}
	return out, nil
}
func (s *server) Turn(context.Context, api.TurnRequest) ([]thread.Entry, error) {
	return s.entries, nil
}
func (s *server) Diff(_ context.Context, r thread.DiffRequest) ([]thread.FileDiff, error) {
	s.note("diff %s %s..%s", r.Thread, r.From, r.To)
	return s.files, nil
}
func (s *server) Context(_ context.Context, q api.Ref) (thread.ContextReport, error) {
	s.note("context %s", q.Thread)
	r := s.context
	r.Thread = thread.ID(q.Thread)
	return r, s.err
}

func (s *server) Base(_ context.Context, q thread.BaseQuery) (thread.BaseReport, error) {
	s.note("base %s", q.Thread)
	return s.base, s.err
}

// Download returns staged data, the only data that the interface asks for.
func (s *server) Download(_ context.Context, _ string, req any) (io.ReadCloser, error) {
	token := req.(api.RetrieveRequest).Token
	s.note("retrieve %s", token)
	data, ok := s.staged[token]
	if !ok {
		return nil, fmt.Errorf("%s: %w", token, thread.ErrNotFound)
	}
	return io.NopCloser(strings.NewReader(data)), nil
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
func (s *server) Find(_ context.Context, q api.FindRequest) ([]thread.Hit, error) {
	s.note("find %q", q.Query)
	if q.Files {
		return slices.DeleteFunc(slices.Clone(s.hits), func(h thread.Hit) bool { return h.Where != "changed" }), nil
	}
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
func (s *server) MergeContinue(_ context.Context, q api.Ref) (thread.MergeReport, error) {
	s.note("continue %s", q.Thread)
	return s.merge, s.err
}
func (s *server) MergeAbort(_ context.Context, q api.Ref) error {
	s.note("abort %s", q.Thread)
	return s.err
}
func (s *server) SetOffers(_ context.Context, q api.OffersRequest) error {
	s.note("offers %s", q.Mode)
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
func (s *server) Export(_ context.Context, r thread.TransferRequest) (thread.Exported, error) {
	s.note("export %s to %s files=%v", r.Thread, r.File, !r.NoFiles)
	return thread.Exported{}, s.err
}
func (s *server) Import(_ context.Context, r thread.TransferRequest) (thread.Imported, error) {
	s.note("import %s", r.File)
	return thread.Imported{Status: status("brought", "", thread.StateExited, 99)}, s.err
}
func (s *server) Collect(_ context.Context, r thread.CollectRequest) (thread.Collected, error) {
	s.note("collect dry=%v", r.DryRun)
	return thread.Collected{Threads: []thread.Dropped{{Name: "old-one-77aa", Bytes: 2048, Why: "archived 40 days ago"}}, Freed: 2048}, s.err
}
func (s *server) Agents(context.Context, api.None) ([]thread.AgentInfo, error) { return s.agents, nil }
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
	free      int // empty rows at its bottom
	lent      int
	sizes     []layout.Box // that it had
	beside    []follow.Watched
	hidden    bool // what is beside it
	backs     map[thread.ID]int
	problems  map[thread.ID]error
}

func (p *pane) Beside(others []follow.Watched, hidden bool) { p.beside, p.hidden = others, hidden }
func (p *pane) Arrange() tea.Cmd                            { return nil }
func (p *pane) Aside(id thread.ID) (int, error)             { return p.backs[id], p.problems[id] }

func (p *pane) StillOf(id thread.ID, c *layout.Canvas, b layout.Box, st lipgloss.Style) {
	c.Print(b, 0, 0, st, "still "+string(id))
}

// wall says what is shown where: the thread with the keys in brackets.
func (p *pane) wall() string {
	all := append([]follow.Watched{{Selection: follow.Selection{ID: "[" + p.shown + "]"}, Box: p.box}}, p.beside...)
	slices.SortFunc(all, func(a, b follow.Watched) int { return cmp.Or(a.Box.Y-b.Box.Y, a.Box.X-b.Box.X) })
	var names []string
	for _, w := range all {
		names = append(names, string(w.ID))
	}
	return strings.Join(names, " ")
}

func (p *pane) Free() int                 { return p.free }
func (p *pane) Lend(rows int)             { p.lent = rows }
func (p *pane) Show(id thread.ID) tea.Cmd { p.shown = id; return nil }
func (p *pane) Place(b layout.Box) {
	if b != p.box {
		p.box, p.sizes = b, append(p.sizes, b)
	}
}
func (p *pane) Suspend(on bool) { p.suspended = on }
func (p *pane) Focus(on bool)   { p.focus = on }
func (p *pane) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		p.keys = append(p.keys, msg.String())
	case tea.PasteMsg:
		p.keys = append(p.keys, "paste "+msg.Content)
	}
	return nil
}
