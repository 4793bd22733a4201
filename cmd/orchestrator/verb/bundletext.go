package verb

import (
	"fmt"
	"strings"

	"orchestrator/thread/bundle"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/work"
)

// printBundle prints a bundle in its printed form, byte for byte the same each time.
func printBundle(c *cli, b work.Bundle) error {
	w := plaintext.NewJSONWriter(c.out.stdout)
	if _, err := w.Write(bundle.Print(b)); err != nil {
		return fmt.Errorf("print the bundle: %w", err)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print the bundle: %w", err)
	}
	return nil
}

// listed splits a flag's value at its commas.
func listed(values []string) []string {
	var out []string
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

// say prints a remark beside what a verb prints.
func say(c *cli, format string, args ...any) {
	fmt.Fprintf(c.out.stderr, "orchestrator: "+format+"\n", args...)
}
