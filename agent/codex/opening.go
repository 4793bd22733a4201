package codex

import (
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/agent/slim"
	"orchestrator/thread"
)

// opening is how a session is opened: app-server takes as fields what the TUI takes as arguments.
type opening struct {
	dir, model, resume string
	sandbox, approval  string
	profile            string // of permissions, instead of a sandbox
	reviewer           string // of what would be asked
	asking             bool   // a person is asked, or else it is refused
	reads              bool   // it may only read: what would write is refused
	silent             bool   // it may use no tool
	patient            bool   // it may ask its provider again and again
	strange            bool   // the person has not said whether they trust the folder
}

// take reads the arguments of the TUI that have a field here, and returns those for app-server: unknown ones it refuses
// itself.
func (o *opening) take(args []string) (rest []string) {
	dir := o.dir
	values := map[string]*string{
		"-m": &o.model, "--model": &o.model, "-s": &o.sandbox, "--sandbox": &o.sandbox,
		"-a": &o.approval, "--ask-for-approval": &o.approval, "-C": &o.dir, "--cd": &o.dir,
	}
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		to := values[name]
		switch {
		case to != nil && joined:
			*to = value
		case to != nil && i+1 < len(args):
			i++
			*to = args[i]
		case name == "-c" || name == "--config" || name == "--enable" || name == "--disable":
			if rest = append(rest, args[i]); !joined && i+1 < len(args) {
				i++
				rest = append(rest, args[i])
			}
		case name == "--search":
			rest = append(rest, "-c", `web_search="live"`)
		case name == "--approve-for-me":
			o.sandbox, o.approval, o.reviewer = "workspace-write", "on-request", "auto_review"
		case name == "--dangerously-bypass-approvals-and-sandbox" || name == "--yolo":
			o.sandbox, o.approval = "danger-full-access", "never"
		case name == "--no-alt-screen":
		case name == "--oss":
			_, provider := localProvider(args)
			if provider != "" {
				rest = append(rest, "-c", "model_provider="+quote(provider))
			}
		case name == "--local-provider":
			if !joined {
				i++
			}
		default:
			rest = append(rest, args[i])
		}
	}
	if !filepath.IsAbs(o.dir) {
		o.dir = filepath.Join(dir, o.dir)
	}
	return rest
}

// asConfigured has a resumed session take the permissions of the configuration, where nothing else was said: it would keep
// those of its last turn, which may have been a read-only run, or one in a terminal where the person allowed more.
func (o *opening) asConfigured(spec thread.LaunchSpec, env []string, trust string) {
	where := thread.WorldSpec{Dir: spec.Dir, Origin: spec.Origin, Env: env, Flags: spec.Flags}
	heard := slim.Outside(where)
	approval := "untrusted" // as Codex has it there: it asks for what is not known to be harmless
	if trust != untrusted {
		heard, approval = slim.Everywhere, "on-request"
	}
	w := wishesIn(where, heard)
	if o.approval == "" {
		o.approval = w.says("approval_policy", approval)
	}
	if o.sandbox != "" {
		return
	}
	if o.profile = w.says("default_permissions", ""); o.profile == "" {
		o.sandbox = w.says("sandbox_mode", "workspace-write")
	}
}

// says returns a text that the configuration sets: the default if it sets nothing, "" if it is no text.
func (w wishes) says(name, unset string) string {
	for _, l := range slices.Backward(w.layers) {
		if v, ok := l.all[name]; ok {
			s, _ := v.(string)
			return s
		}
	}
	return unset
}

// readOnly is the name of the permissions of a read-only run.
const readOnly = "orchestrator-read-only"

// onlyReading returns the arguments that define those permissions. The person's rules that allow commands have these run
// outside of the sandbox, even of one that only reads, unless something may not even be read: a file that does not exist.
func onlyReading(stateDir string) []string {
	return []string{"-c", "default_permissions=" + quote(readOnly), "-c", "permissions=" + inline(map[string]any{readOnly: map[string]any{
		"extends": ":read-only", "filesystem": map[string]any{filepath.Join(stateDir, "never-read"): "deny"},
	}})}
}
