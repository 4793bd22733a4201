package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"orchestrator/mcpctl/gateway"
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

// spawnWait is how long an agent waits for a run in one call: no CLI ends a call before.
const spawnWait = 8 * time.Minute

// mostAnswer is how much of a run's answer an agent gets at once, in bytes. More of it is staged.
const mostAnswer = 8000

// partTools are the tasks of plans for their agents.
type partTools struct{ app *Server }

// Runs implements gateway.Work.
func (p partTools) Runs(id thread.ID) thread.Once {
	t, err := p.app.store.Thread(context.Background(), id)
	if err != nil {
		return thread.Once{}
	}
	once := t.Once
	if p.app.parts.spawns == nil {
		once.Part, once.Spawn = thread.Part{}, thread.Spawn{}
	}
	return once
}

// once returns how the thread of an agent that takes part runs.
func (p partTools) once(id thread.ID) (thread.Once, error) {
	o := p.Runs(id)
	if len(thread.MCPOwnTools(o)) == len(thread.MCPOwnTools(thread.Once{})) {
		return o, thread.Kindf(thread.ErrRefused, "you take part in no plan")
	}
	return o, nil
}

// Spawn implements gateway.Work.
func (p partTools) Spawn(ctx context.Context, id thread.ID, s gateway.Spawn) (string, error) {
	if _, err := p.once(id); err != nil {
		return "", err
	}
	x, err := p.app.parts.spawns.Start(ctx, id, wave.SpawnRequest{Prompt: s.Prompt, Agent: s.Agent, Tier: thread.Tier(s.Tier), Writes: s.Writes})
	if err == nil && s.Wait {
		x, err = p.app.parts.spawns.Wait(ctx, x.ID, spawnWait)
	}
	if err != nil {
		return "", err
	}
	return p.run(ctx, id, x)
}

// partRun is a run that an agent has started, as it is told.
type partRun struct {
	Run    string     `json:"run"`
	State  work.State `json:"state"`
	Reason string     `json:"reason,omitempty"`
	Branch string     `json:"branch,omitempty"` // with what it has changed
}

func (p partTools) partRun(ctx context.Context, x work.Execution) partRun {
	r := partRun{Run: x.Name, State: x.State, Reason: x.Reason}
	if t, err := p.app.store.Thread(ctx, x.Thread); err == nil {
		r.Branch = t.Worktree.Branch
	}
	return r
}

// run returns how a run stands, and the whole answer of one that has ended.
func (p partTools) run(ctx context.Context, id thread.ID, x work.Execution) (string, error) {
	head := compactJSON(p.partRun(ctx, x))
	if !x.State.Final() {
		return head + "\nIt works on: ask with orch__status again.", nil
	}
	answer, err := wave.Said(ctx, p.app.executions, x)
	if err != nil || answer == "" {
		return head, err
	}
	if len(answer) > mostAnswer {
		d, err := p.app.staging.Stage(ctx, thread.StageRequest{Source: x.Name, Thread: id, Labels: []string{"run"}}, strings.NewReader(answer))
		if err != nil {
			return "", err
		}
		answer = fmt.Sprintf("%s\n[cut: all of it, %s, is %s for orch__retrieve]", plaintext.Cut(answer, mostAnswer), thread.Bytes(d.Bytes), d.Token)
	}
	return head + "\n\n" + answer, nil
}

// Status implements gateway.Work.
func (p partTools) Status(ctx context.Context, id thread.ID, run string) (string, error) {
	o, err := p.once(id)
	if err != nil {
		return "", err
	}
	if run != "" {
		x, err := p.app.parts.spawns.Find(ctx, id, run)
		if err != nil {
			return "", err
		}
		return p.run(ctx, id, x)
	}
	var s struct {
		Part *wave.PartStatus `json:"part,omitempty"`
		Runs []partRun        `json:"runs,omitempty"`
		Left *int             `json:"runs_left,omitempty"`
	}
	if o.Part.Task != "" {
		part, err := p.app.waves.Part(ctx, o.Part)
		if err != nil {
			return "", err
		}
		s.Part = &part
	}
	if o.Spawn.Depth > 0 {
		list, err := p.app.parts.spawns.Of(ctx, o.Spawn.Of, o.Spawn.Runs)
		if err != nil {
			return "", err
		}
		left := min(o.Spawn.Runs, wave.MostSpawned) - len(list)
		s.Left = &left
		for _, x := range list {
			if x.By == id {
				s.Runs = append(s.Runs, p.partRun(ctx, x))
			}
		}
	}
	return compactJSON(s), nil
}

// compactJSON encodes what is known to be encodable, as it is read.
func compactJSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return strings.TrimSpace(b.String())
}

// Deliverable implements gateway.Work.
func (p partTools) Deliverable(ctx context.Context, id thread.ID, agent string, version int) (string, io.Reader, error) {
	if _, err := p.once(id); err != nil {
		return "", nil, err
	}
	h, err := p.app.waves.Get(ctx, wave.Author{Agent: true, Thread: id}, wave.GetRequest{Agent: agent, Version: version})
	if err != nil {
		return "", nil, err
	}
	about := struct {
		Agent   string          `json:"agent_name"`
		Version int             `json:"version"`
		Type    plan.OutputType `json:"output_type"`
		Bytes   int64           `json:"bytes"`
		Summary string          `json:"summary,omitempty"`
		Files   []plan.File     `json:"files,omitempty"`
	}{h.Agent, h.Version, h.Type, h.Bytes, h.Summary, h.Files}
	return compactJSON(about), strings.NewReader(h.Data), nil
}

// HandOver implements gateway.Work.
func (p partTools) HandOver(ctx context.Context, id thread.ID, h gateway.HandOver) (string, error) {
	if _, err := p.once(id); err != nil {
		return "", err
	}
	files := make([]plan.File, len(h.Files))
	for i, path := range h.Files {
		files[i].Path = path
	}
	put, err := p.app.waves.Put(ctx, wave.Author{Agent: true, Thread: id}, wave.PutRequest{Summary: h.Summary, Data: h.Data, Files: files})
	if err != nil {
		return "", err
	}
	if put.Same {
		return fmt.Sprintf("version %d has the same content already: nothing was stored", put.HandOver.Version), nil
	}
	return fmt.Sprintf("version %d is handed over once you end", put.HandOver.Version), nil
}
