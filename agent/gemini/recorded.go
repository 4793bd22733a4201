package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orchestrator/agent/launch"
	"orchestrator/agent/recorded"
	"orchestrator/agent/transcript"
	"orchestrator/thread"
	"orchestrator/thread/lines"
)

// projects is the folder that contains all project folders.
func projects(env launch.Env) string { return filepath.Join(home(env), "tmp") }

// Places returns where Gemini CLI keeps its sessions; older versions wrote one object of JSON.
func (a *Agent) Places(env []string) []string {
	chats := filepath.Join(projects(launch.Env(env)), "*", "chats", "session-*.json")
	return []string{chats + "l", chats}
}

// Recognises reports whether a file or a line begins as that of a session does.
func (a *Agent) Recognises(beginning []byte) bool {
	f := lines.Fields(beginning)
	_, hash := f["projectHash"]
	return hash && lines.Word(f["sessionId"]) != ""
}

// line is a line of a session: a message, or a change of what is known of the session.
type line struct {
	ID        string    `json:"id"`
	Session   string    `json:"sessionId"`
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Model     string    `json:"model"`
	Content   content   `json:"content"`
	Tokens    *tokens   `json:"tokens"`
	Calls     []struct {
		ID     string          `json:"id"`
		Name   string          `json:"name"`
		Args   json.RawMessage `json:"args"`
		Status string          `json:"status"`
		Result content         `json:"result"`
	} `json:"toolCalls"`
	Thoughts []struct {
		Subject     string `json:"subject"`
		Description string `json:"description"`
	} `json:"thoughts"`
	Messages []line  `json:"messages"`
	Rewind   *string `json:"$rewindTo"`
	again    bool    // it was said again when the session was resumed
	Set      struct {
		Messages []line `json:"messages"`
	} `json:"$set"`
}

// tokens are the provider's counts of a response.
type tokens struct {
	Input    int64 `json:"input"`
	Output   int64 `json:"output"`
	Cached   int64 `json:"cached"`
	Thoughts int64 `json:"thoughts"`
	Tool     int64 `json:"tool"`
}

// part is a part of a message.
type part struct {
	Text   string `json:"text"`
	Inline *struct {
		Data string `json:"data"`
	} `json:"inlineData"`
	File *struct{} `json:"fileData"`
	Call *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Result *struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

// format reads a session. Messages are written again when more is known of them, so nothing is given before the end.
func format() recorded.Format {
	return func(out *recorded.Responses) recorded.Decoder { return &reader{out: out, at: map[string]int{}} }
}

// Pieces reads a session.
func (a *Agent) Pieces(ctx context.Context, f *os.File) iter.Seq2[recorded.Piece, error] {
	in, err := oneObject(f)
	if err != nil {
		return func(yield func(recorded.Piece, error) bool) { yield(recorded.Piece{}, err) }
	}
	return format().Pieces(ctx, in)
}

// ReadUsage returns the responses in the chunks.
func (a *Agent) ReadUsage(chunks []thread.Chunk) ([]thread.Exchange, error) {
	return format().Usage(chunks), nil
}

// BeginsTurn reports whether a line of a session's main file is the first of a turn: tool results are lines of the
// person's, too, but have no text.
func (a *Agent) BeginsTurn(line []byte) bool { return format().Begins(line) }

// oneObject returns a reader of a file as one line if it is one object over many lines, as older versions wrote it.
func oneObject(f *os.File) (io.Reader, error) {
	head := make([]byte, 64)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if first, _, _ := bytes.Cut(bytes.TrimSpace(head[:n]), []byte("\n")); string(bytes.TrimSpace(first)) != "{" {
		return f, nil
	}
	raw, err := io.ReadAll(io.LimitReader(f, transcript.MaxFile))
	if err != nil {
		return nil, err
	}
	var one bytes.Buffer
	if err := json.Compact(&one, raw); err != nil {
		return nil, fmt.Errorf("read an object of JSON: %w", err)
	}
	return &one, nil
}

// check returns an error if counts cannot be true.
func (l line) check() error {
	if t := l.Tokens; t != nil {
		if err := recorded.Check(thread.Usage{Input: t.Input, CacheRead: t.Cached, CacheWrite: t.Tool, Output: t.Output + t.Thoughts}); err != nil {
			return err
		}
	}
	for _, m := range slices.Concat(l.Messages, l.Set.Messages) {
		if err := m.check(); err != nil {
			return err
		}
	}
	return nil
}

// reader has the messages of a session as far as it is read.
type reader struct {
	out     *recorded.Responses
	session string
	all     []line // a line without an id is a mark
	// at has the messages that the model is sent by their ids, and from is where those begin.
	at   map[string]int
	from int
	// starts is set from the first line of a start of Gemini CLI on, until it says what it resumes.
	starts bool
}

// The types of marks among messages.
const (
	markBoundary = "boundary"
	markRewind   = "rewind"
)

// Line implements recorded.Decoder.
func (s *reader) Line(raw []byte) error {
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		return err
	}
	if err := l.check(); err != nil {
		return err
	}
	if l.Session != "" {
		s.session = l.Session
	}
	switch {
	case l.ID == "" && l.Session != "":
		s.starts = true
		for _, m := range l.Messages {
			s.message(m)
		}
	case l.Rewind != nil:
		s.rewind(*l.Rewind)
	case l.Set.Messages != nil:
		s.replace(l.Set.Messages)
	case l.ID != "":
		s.message(l)
	}
	return nil
}

// message adds a message, or says more of one.
func (s *reader) message(l line) {
	if i, ok := s.at[l.ID]; ok {
		s.all[i] = l
		return
	}
	s.at[l.ID] = len(s.all)
	s.all = append(s.all, l)
}

func (s *reader) mark(kind string) {
	s.all = append(s.all, line{Type: kind})
}

// rewind takes back a message and all after it, all of them if it is not known.
func (s *reader) rewind(id string) {
	from, ok := s.at[id]
	if !ok {
		from = s.from
	}
	for id, i := range s.at {
		if i >= from {
			delete(s.at, id)
		}
	}
	s.mark(markRewind)
}

// replace takes what the model is sent from now on: all messages when a session is resumed, fewer after a compression.
// What is said of known messages is less than what is known.
func (s *reader) replace(list []line) {
	kept := make(map[string]bool, len(list))
	for _, m := range list {
		kept[m.ID] = true
	}
	answered := slices.ContainsFunc(list, func(m line) bool { return m.Type == "gemini" })
	starts := s.starts && !answered // it has only its own words yet
	s.starts = starts
	first, last := "", ""
	for i := s.from; i < len(s.all); i++ {
		if id := s.all[i].ID; s.all[i].Type == "gemini" {
			if at, ok := s.at[id]; ok && at == i {
				if last = id; first == "" {
					first = id
				}
			}
		}
	}
	switch {
	case starts:
	case first != "" && !kept[first]:
		s.mark(markBoundary)
		s.from, s.at = len(s.all), map[string]int{}
	case last != "" && !kept[last]:
		s.mark(markRewind)
		for id := range s.at {
			if !kept[id] {
				delete(s.at, id)
			}
		}
	}
	for _, m := range list {
		if _, ok := s.at[m.ID]; !ok && m.ID != "" {
			m.Tokens, m.again = nil, true // they were counted before
			s.message(m)
		}
	}
}

// tools is what is known of the calls of tools, by id.
type tools struct {
	called, answered map[string]bool // whose call or result was given: both are written more than once
	sent             map[string]bool // whose result is there as it was sent; with the call it may be longer
	failed           map[string]bool
}

// tools returns what the messages tell of the calls.
func (s *reader) tools() tools {
	t := tools{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, l := range s.all {
		for _, c := range l.Calls {
			t.failed[c.ID] = c.Status == "error" || c.Status == "cancelled"
		}
		if l.Type == "user" && !l.again {
			for _, part := range l.Content {
				if part.Result != nil {
					t.sent[part.Result.ID] = true
				}
			}
		}
	}
	return t
}

// End implements recorded.Decoder: it gives the pieces of all messages.
func (s *reader) End() {
	t := s.tools()
	for _, l := range s.all {
		switch l.Type {
		case markBoundary:
			s.out.Add(recorded.Piece{Kind: recorded.Boundary})
		case markRewind:
			s.out.Add(recorded.Piece{Kind: recorded.Rewind})
		case "user":
			text := l.text()
			if text != "" && !l.again {
				s.out.Turn()
				if text[0] != '<' {
					s.out.Asked(text)
				}
			}
			s.parts(l, false, !strings.HasPrefix(text, "<"), t)
		case "gemini":
			s.answer(l, t)
		}
		if s.out.Stopped() {
			return
		}
	}
}

// answer gives the pieces of a response and the results of its tools.
func (s *reader) answer(l line, t tools) {
	s.out.Begin(thread.Exchange{Main: true, Session: s.session, Model: l.Model, Started: l.Timestamp, Ended: l.Timestamp})
	for _, thought := range l.Thoughts {
		s.out.Add(recorded.Piece{Kind: recorded.Thinking, Own: true, At: l.Timestamp}.Say(thought.Subject + thought.Description))
	}
	s.parts(l, true, false, t)
	for _, c := range l.Calls {
		if c.ID == "" || !t.called[c.ID] {
			t.called[c.ID] = true
			s.out.Add(recorded.Piece{Kind: recorded.Call, Own: true, Tool: c.Name, ID: c.ID, Input: c.Args, At: l.Timestamp}.
				Say(string(c.Args)))
		}
	}
	if e := s.out.Now(); e.Text != "" && len(e.Tools) == 0 {
		e.Stop, e.EndsTurn = "STOP", true
	}
	if u := l.Tokens; u != nil {
		s.out.Count(thread.Usage{Input: max(0, u.Input-u.Cached) + u.Tool, CacheRead: u.Cached, Output: u.Output + u.Thoughts})
	}
	s.out.End()
	for _, c := range l.Calls {
		if t.sent[c.ID] {
			continue
		}
		for _, part := range c.Result {
			if part.Result != nil {
				part.Result.ID = c.ID
			}
			t.give(part, recorded.Piece{At: l.Timestamp}, s.out.Add)
		}
	}
}

// text returns the text of a message.
func (l line) text() string {
	text := ""
	for _, p := range l.Content {
		text += p.Text
	}
	return text
}

// parts gives the pieces of a message. What is said again counts, but nobody says it now.
func (s *reader) parts(l line, own, person bool, t tools) {
	for _, part := range l.Content {
		t.give(part, recorded.Piece{Own: own, Person: person, At: l.Timestamp}, func(p recorded.Piece) {
			if l.again {
				p.Text = ""
			}
			s.out.Add(p)
		})
	}
}

// give gives the piece of a part.
func (t tools) give(part part, p recorded.Piece, add func(recorded.Piece)) {
	switch {
	case part.Call != nil:
		p.Kind, p.Tool, p.ID, p.Input = recorded.Call, part.Call.Name, part.Call.ID, part.Call.Args
		if p.ID != "" && t.called[p.ID] {
			return
		}
		t.called[p.ID] = true
		p = p.Say(string(p.Input))
	case part.Result != nil:
		p.Kind, p.Tool, p.ID, p.Person = recorded.Result, part.Result.Name, part.Result.ID, false
		if p.ID != "" && t.answered[p.ID] {
			return
		}
		t.answered[p.ID], p.Error = true, t.failed[p.ID]
		p = p.Say(responseText(part.Result.Response))
	case part.Inline != nil || part.File != nil:
		p.Kind, p.Images = recorded.Text, 1
	case part.Text == "":
		return
	default:
		p.Kind = recorded.Text
		p = p.Say(part.Text)
	}
	add(p)
}

// responseText returns what a tool answered: the output alone if that is all.
func responseText(raw json.RawMessage) string {
	var fields map[string]json.RawMessage
	var text string
	if json.Unmarshal(raw, &fields) == nil && len(fields) == 1 && json.Unmarshal(fields["output"], &text) == nil {
		return text
	}
	return string(raw)
}

// content is a text, a part or a list of them, as parts.
type content []part

// UnmarshalJSON implements json.Unmarshaler. What is none of them is empty.
func (c *content) UnmarshalJSON(raw []byte) error {
	var text string
	var one part
	var err error
	switch raw[0] { // each attempt reads it whole
	case '"':
		err = json.Unmarshal(raw, &text)
		*c = content{{Text: text}}
	case '[':
		err = json.Unmarshal(raw, (*[]part)(c))
	case '{':
		err = json.Unmarshal(raw, &one)
		*c = content{one}
	default:
		*c = nil
	}
	if err != nil {
		*c = nil
	}
	return nil
}
