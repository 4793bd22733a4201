package e2e

import (
	"strings"
)

// Says checks that a call was refused with an exit code and a message that holds the words.
func (r *Rig) Says(code int, words []string, args ...string) {
	r.T.Helper()
	res := r.Run(args...)
	if res.Code != code {
		r.T.Errorf("orchestrator %q: exit %d, want %d\n%s%s", args, res.Code, code, res.Stdout, res.Stderr)
	}
	for _, w := range words {
		if !strings.Contains(res.Stderr, w) {
			r.T.Errorf("orchestrator %q does not say %q: %s", args, w, res.Stderr)
		}
	}
	if strings.Contains(res.Stderr, "goroutine ") || strings.Contains(res.Stderr, "panic") {
		r.T.Errorf("orchestrator %q showed a panic: %s", args, res.Stderr)
	}
}

// NotSays requires that the program does not say these words on stderr.
func (r *Rig) NotSays(words []string, args ...string) {
	r.T.Helper()
	res := r.Run(args...)
	for _, w := range words {
		if strings.Contains(res.Stderr, w) {
			r.T.Errorf("orchestrator %q says %q: %s", args, w, res.Stderr)
		}
	}
}
