package thread

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"
)

// InboxItem is one thing that is open for the person, of a thread or of the project: the same for verbs, screens and
// notifications.
type InboxItem struct {
	Thread ID     `json:"thread,omitempty"` // empty for one of the project
	Name   string `json:"name"`             // of the thread or the server: its handle
	Label  string `json:"label"`
	// Server is the id of the MCP server that waits to be accepted.
	Server string `json:"server,omitempty"`
	// Node is what is asked about an agent or a gate of a plan's task; nil for all else.
	Node  *NodeQuestion `json:"node,omitempty"`
	Kind  InboxKind     `json:"kind"`
	Since time.Time     `json:"since,omitzero"` // zero where it is not known
	// Text is what it is about, on one line: the command that is asked about, the prompt that was cut off, the end of a
	// limit.
	Text string `json:"text"`
	// Question is set for a question whose dialog can be read.
	Question *Question `json:"question,omitempty"`
}

// NodeQuestion is what a person is asked about an agent or a gate of a plan's task. It is the question that was asked at
// this time: once it is answered, one that follows is another.
type NodeQuestion struct {
	Task  string    `json:"task_id"` // its name
	Title string    `json:"title"`   // of the task
	Agent string    `json:"agent_name"`
	Asks  string    `json:"asks,omitempty"` // gate, upstream, stall
	Text  string    `json:"question"`
	Since time.Time `json:"asked_at"`
}

// Name names what is asked about: "task-001/review".
func (q NodeQuestion) Name() string { return q.Task + "/" + q.Agent }

// InboxKind is why something is open.
type InboxKind string

// The kinds, the most urgent first.
const (
	InboxQuestion    InboxKind = "question"    // the agent asks and waits
	InboxTask        InboxKind = "task"        // a task of a plan waits for a yes or no
	InboxSignIn      InboxKind = "sign-in"     // the provider refused the credentials
	InboxStuck       InboxKind = "stuck"       // the agent gave up after a failure
	InboxMerge       InboxKind = "merge"       // its merge has conflicts, which the person resolves
	InboxPrompt      InboxKind = "prompt"      // a prompt was cut off or refused
	InboxServer      InboxKind = "server"      // an MCP server is configured that nobody has accepted
	InboxInterrupted InboxKind = "interrupted" // the agent was killed in the middle, and can be resumed
	InboxLimited     InboxKind = "limited"     // it waits for the end of a limit
	InboxOffer       InboxKind = "offer"       // a fork or an MCP server is offered
	InboxUnread      InboxKind = "unread"      // answered, and nobody has looked
)

// InboxKinds returns all kinds, the most urgent first.
func InboxKinds() []InboxKind {
	return []InboxKind{
		InboxQuestion, InboxTask, InboxSignIn, InboxMerge, InboxStuck, InboxPrompt, InboxServer, InboxInterrupted, InboxLimited,
		InboxOffer, InboxUnread,
	}
}

// Inbox returns what is open in threads, what tasks of plans ask, and which of the project's MCP servers wait to be accepted:
// by kind, the oldest first.
func Inbox(threads []Status, nodes []NodeQuestion, servers []MCPServer) []InboxItem {
	var items []InboxItem
	for _, q := range nodes {
		items = append(items, InboxItem{Name: q.Name(), Label: q.Name(), Node: &q, Kind: InboxTask, Since: q.Since, Text: q.Text})
	}
	for _, s := range threads {
		items = append(items, s.open()...)
	}
	for _, s := range servers {
		if s.Accepted || s.Problem != "" || s.Hash == "" {
			continue
		}
		items = append(items, InboxItem{Name: s.Name, Label: s.Name, Server: s.ID, Kind: InboxServer, Text: s.starts()})
	}
	kinds := InboxKinds()
	slices.SortStableFunc(items, func(a, b InboxItem) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)), a.Since.Compare(b.Since))
	})
	return items
}

// starts returns what a server would start, and where that is configured.
func (s MCPServer) starts() string {
	text := s.Target
	if len(s.Sources) > 0 {
		text += " from " + filepath.Base(s.Sources[0].File)
	}
	if !s.Trusted {
		text += " (repository)"
	}
	if s.Changed {
		text += ", changed since it was accepted"
	}
	return text
}

// open returns what is open in a thread.
func (s Status) open() []InboxItem {
	if s.Settled() {
		return nil
	}
	var items []InboxItem
	add := func(kind InboxKind, since time.Time, text string) *InboxItem {
		items = append(items, InboxItem{Thread: s.ID, Name: s.Name, Label: s.TypedName(), Kind: kind, Since: since, Text: text})
		return &items[len(items)-1]
	}
	switch st := s.State; {
	case s.betweenRuns() && st.State != StateInterrupted:
		if kind := s.runItem(); kind != "" {
			add(kind, s.GroupSince(), s.Line())
		}
	case st.State == StateApproval || st.State == StateQuestion:
		item := add(InboxQuestion, st.Since, st.Why())
		if st.Question != nil {
			item.Question, item.Text = st.Question, st.Question.Line()
		}
	case st.State == StateUnauthorised:
		add(InboxSignIn, st.Since, st.Why())
	case st.Stuck && !s.Seen:
		add(InboxStuck, st.Since, string(st.State)+st.More())
	case st.State == StateLimited:
		add(InboxLimited, st.Since, string(st.State)+st.More())
	case st.State == StateInterrupted:
		add(InboxInterrupted, st.Since, "can be resumed")
	case st.State == StateDone:
		add(InboxUnread, st.Since, s.Last)
	}
	if s.Merging != "" {
		add(InboxMerge, s.State.Since, s.asks())
	}
	if p, cut := s.Unanswered(); cut {
		add(InboxPrompt, p.Accepted, p.Text)
	}
	if o := s.Offer; o != nil {
		add(InboxOffer, time.Time{}, o.Says(s.Gauge))
	}
	return items
}

// runItem is why a thread between runs is open for the person, "" if it is not.
func (s Status) runItem() InboxKind {
	switch g := s.runGroup(); {
	case s.Run.SignIn && g == GroupNeedsYou:
		return InboxSignIn
	case s.Run.State == "failed" && g == GroupNeedsYou:
		return InboxStuck
	case g == GroupNeedsYou:
		return InboxInterrupted
	case g == GroupToRead:
		return InboxUnread
	default:
		return ""
	}
}
