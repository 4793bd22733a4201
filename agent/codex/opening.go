package codex

import (
	"path/filepath"
	"strings"
)

// opening is how a session is opened: app-server takes as fields what the TUI takes as arguments.
type opening struct {
	dir, model, resume string
	sandbox, approval  string
	profile            string // of permissions, instead of a sandbox
	reviewer           string // of what would be asked
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
