package e2e

import (
	"bytes"
	"strings"
)

// Said sends what standard input brings.
func (r *Rig) Said(text string, args ...string) Result {
	r.T.Helper()
	var stdout, stderr bytes.Buffer
	cmd := r.Command(append([]string{"send"}, append(args, "-")...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), &stdout, &stderr
	_ = cmd.Run() // the code tells
	return Result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}
