package thread

import (
	"encoding/json"
	"strings"
)

// Hook implements Observer. What a report says counts after the answers that came before it: the
// thread shows no waiting state while one of them is not durable.
func (m *Manager) Hook(id ID, event string, payload []byte) {
	l := m.line(id)
	if l == nil {
		return
	}
	m.mu.Lock()
	name, direct := l.t.Agent, l.direct
	m.mu.Unlock()
	var r HookReport
	ok := false
	if agent, err := m.cfg.Agents.Agent(name); err == nil {
		if reader, can := agent.(HookReader); can {
			r, ok = reader.ReadHook(event, payload)
		} else {
			r, ok = commonHook(event, payload)
		}
	}
	if !ok {
		m.cfg.Log.Debug("hook report", "thread", string(id), "event", event)
		return
	}
	if r.State != "" {
		l.report(Evidence{Source: SourceHook, State: r.State, Detail: orWord(r.Detail, "hook "+event), At: m.now(), Prompt: r.Prompt != ""})
	}
	if r.Session != "" {
		l.enqueue(func() { l.rec.adopt(m.ctx, l, r.Session) })
	}
	if r.Prompt != "" {
		l.enqueue(func() { l.heard(m.ctx, r.Prompt, true) })
	}
	if direct && r.State == StateIdle {
		l.enqueue(func() { l.rec.poll(m.ctx, l) })
	}
}

// hookStates are the events that several agents share by name, and what they say.
var hookStates = map[string]State{
	"SessionStart": StateIdle,
	// The person's prompt and what the agent does about it.
	"UserPromptSubmit": StateWorking, "PreToolUse": StateWorking, "PostToolUse": StateWorking, "PreCompact": StateWorking,
	"BeforeAgent": StateWorking, "BeforeTool": StateWorking, "AfterTool": StateWorking,
	// The agent needs the person.
	"PermissionRequest": StateApproval, "permission.updated": StateApproval, "permission.asked": StateApproval,
	"Elicitation": StateQuestion,
	// The agent has answered.
	"Stop": StateIdle, "AfterAgent": StateIdle, "session.idle": StateIdle,
}

// askingTools are tools whose call is a question to the person.
var askingTools = map[string]State{"AskUserQuestion": StateQuestion, "ExitPlanMode": StateApproval}

// notifications are kinds of the Notification event that say something.
var notifications = map[string]State{
	"permission_prompt": StateApproval, "elicitation_dialog": StateQuestion, "idle_prompt": StateIdle,
	"ToolPermission": StateApproval,
}

// commonHook reads a report by the names that several agents share.
func commonHook(event string, payload []byte) (HookReport, bool) {
	var p struct {
		Session string `json:"session_id"`
		Tool    string `json:"tool_name"`
		Kind    string `json:"notification_type"`
		Prompt  string `json:"prompt"`
	}
	_ = json.Unmarshal(payload, &p) // a payload we cannot read leaves the event's name
	r := HookReport{State: hookStates[event], Detail: "hook " + event}
	switch event {
	case "UserPromptSubmit", "BeforeAgent":
		r.Prompt = p.Prompt
	}
	switch event {
	case "SessionStart", "UserPromptSubmit":
		r.Session = p.Session
	case "PreToolUse", "BeforeTool":
		if s, asks := askingTools[p.Tool]; asks {
			r.State = s
		}
	case "Notification":
		r.State = notifications[p.Kind]
		p.Tool = p.Kind
	}
	if name := oneWord(p.Tool); name != "" {
		r.Detail += ": " + name
	}
	return r, r.State != "" || r.Session != ""
}

// oneWord makes a tool's name fit to be shown: it comes from an agent.
func oneWord(s string) string {
	return excerptOf(strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f {
			return r
		}
		return -1
	}, s), 60)
}
