package e2e

import (
	"bytes"
	"regexp"
	"strings"
)

// OneToken matches what `stage` prints.
var OneToken = regexp.MustCompile(`^max:[0-9a-f]{8}\n$`)

// Stage stages a text and returns its token, which must be the only output.
func (r *Rig) Stage(text string, args ...string) string {
	r.T.Helper()
	cmd := r.Command(append([]string{"stage"}, args...)...)
	cmd.Stdin = strings.NewReader(text)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || !OneToken.Match(out) {
		r.T.Fatalf("stage %v: %q, %v\n%s", args, out, err, &errs)
	}
	if !strings.Contains(errs.String(), "kept until 20") || (text == "") != strings.Contains(errs.String(), "was empty") {
		r.T.Errorf("stage %v says %q", args, &errs)
	}
	return strings.TrimSpace(string(out))
}
