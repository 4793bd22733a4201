package e2e

// Shell runs a line as a person's shell does and returns what it printed.
func (r *Rig) Shell(line string) string {
	r.T.Helper()
	cmd := r.Command()
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", line}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.T.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}
