package claude

import (
	"encoding/json"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

// asking is the event of the hook that may answer a dialog. Claude Code shows the dialog while the hook waits, takes the
// first answer, the hook's or the person's, and ignores the other one; the hook's is bound to the call that it was told
// of, so it reaches no other dialog. A hook that ends without an answer leaves the dialog as it is. What the person
// chooses beyond yes and no, plans and questions are typed: their choices are the dialog's own.
const asking = "PermissionRequest"

// askingTimeout is the time in seconds that the hook may wait for the person.
const askingTimeout = 24 * 60 * 60

// decision is what the hook says.
type decision struct {
	Behavior  string `json:"behavior"`
	Message   string `json:"message,omitempty"`
	Interrupt bool   `json:"interrupt,omitempty"` // the turn ends, as with the dialog's own no
}

// ReadAsk implements thread.HookDecider.
func (a *Agent) ReadAsk(event string, payload []byte) (thread.HookAsk, bool) {
	var p struct {
		Tool  string `json:"tool_name"`
		Input struct {
			Command string `json:"command"`
			File    string `json:"file_path"`
		} `json:"tool_input"`
	}
	if event != asking || json.Unmarshal(payload, &p) != nil {
		return thread.HookAsk{}, false
	}
	var is func(about string) bool
	switch {
	case p.Tool == "Bash" && bare(p.Input.Command) != "":
		is = func(about string) bool { return bare(about) == bare(p.Input.Command) }
	case (p.Tool == "Write" || p.Tool == "Edit") && p.Input.File != "":
		is = func(about string) bool { return names(about, p.Input.File) }
	default:
		return thread.HookAsk{}, false
	}
	return thread.HookAsk{
		About: func(q thread.Question) bool { return q.Kind == thread.QuestionPermission && is(q.About) },
		Says: map[thread.Meaning][]byte{
			thread.Approve: says(decision{Behavior: "allow"}),
			thread.Deny:    says(decision{Behavior: "deny", Message: "The person said no.", Interrupt: true}),
		},
	}, true
}

func says(d decision) []byte {
	raw, err := json.Marshal(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": asking, "decision": d}})
	if err != nil {
		panic("claude: " + err.Error()) // only strings are passed
	}
	return raw
}

// bare is a command as neither a screen's width nor its lines change it.
func bare(command string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(command, `\n`, " ")), "")
}

var fileTitle = pattern.Lazy(`^(?:Create|Edit|Overwrite|Write) file `)

// names reports whether a dialog such as "Create file notes/a.txt" names a file.
func names(about, file string) bool {
	title := fileTitle().FindString(about)
	shown := bare(about[len(title):])
	rest, ok := strings.CutSuffix(bare(file), shown)
	return title != "" && shown != "" && ok && (rest == "" || strings.HasSuffix(rest, "/"))
}
