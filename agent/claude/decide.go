package claude

import (
	"encoding/json"
	"slices"
	"strings"

	"orchestrator/agent/dialog"
	"orchestrator/thread"
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

// ReadAsk implements thread.HookDecider. A hook that can be told from its dialog decides; each other one waits, so that
// its dialog is not taken for another hook's.
func (a *Agent) ReadAsk(event string, payload []byte) (thread.HookAsk, bool) {
	if event != asking {
		return thread.HookAsk{}, false
	}
	var p struct {
		Tool  string `json:"tool_name"`
		Dir   string `json:"cwd"`
		Input struct {
			Command string `json:"command"`
			File    string `json:"file_path"`
		} `json:"tool_input"`
	}
	silent := thread.HookAsk{About: func(thread.Question) bool { return true }}
	if json.Unmarshal(payload, &p) != nil {
		return silent, true
	}
	var is func(q thread.Question) bool
	switch tool, dir, file := p.Tool, p.Dir, p.Input.File; {
	case tool == "Bash" && len(p.Input.Command) <= dialog.Longest && strings.TrimSpace(p.Input.Command) != "":
		command := rows(p.Input.Command, "\n")
		is = func(q thread.Question) bool {
			return q.Title == "Bash command" && wraps(rows(q.About, ` \n `), command)
		}
	case fileTitles[tool] != nil && len(dir)+len(file) <= dialog.Longest && file != "":
		is = func(q thread.Question) bool {
			return slices.Contains(fileTitles[tool], q.Title) && names(q.About, q.Title, dir, file)
		}
	default:
		return silent, true
	}
	return thread.HookAsk{
		About: func(q thread.Question) bool { return q.Kind == thread.QuestionPermission && is(q) },
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

// rows returns a text's rows that are not blank, one a line, each run of blanks in them as one.
func rows(text, end string) string {
	var kept []string
	for row := range strings.SplitSeq(text, end) {
		if words := strings.Fields(row); len(words) > 0 {
			kept = append(kept, strings.Join(words, " "))
		}
	}
	return strings.Join(kept, "\n")
}

// wraps reports whether rows of a screen show a command: a row may end at a blank of the command, and does at each of
// its lines' ends. A word that goes on in the next row reads as two words, so it shows no command.
func wraps(shown, command string) bool {
	if len(shown) != len(command) {
		return false
	}
	for i := range len(shown) {
		if shown[i] != command[i] && (shown[i] != '\n' || command[i] != ' ') {
			return false
		}
	}
	return true
}

// fileTitles are the titles of the dialogs about a file, by the tool that changes it.
var fileTitles = map[string][]string{
	"Edit":  {"Edit file"},
	"Write": {"Create file", "Overwrite file", "Write file"},
}

// names reports whether a dialog such as "Create file notes/a.txt" names a file, by its path or by that from a folder.
func names(about, title, dir, file string) bool {
	shown, titled := strings.CutPrefix(about, title+" ")
	return titled && shown != "" && (shown == file || dir != "" && strings.TrimSuffix(dir, "/")+"/"+shown == file)
}
