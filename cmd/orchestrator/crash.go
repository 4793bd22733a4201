package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// A panic that nobody recovers, in some goroutine of the server, is printed by the runtime itself, past the writer that
// cleans, and may quote anything. So the server has the runtime print to a file of its own, which nobody reads raw: the
// next server puts it into its log, cleaned, and tells people.

// catchCrash has what the runtime prints go to a file, and what we print go on to where standard error led.
func (c *cli) catchCrash(to *os.File) error {
	fd, err := unix.FcntlInt(uintptr(unix.Stderr), unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		err = unix.Dup2(int(to.Fd()), unix.Stderr)
	}
	if err != nil {
		return fmt.Errorf("keep what a crash would print: %w", err)
	}
	clean := plaintext.NewWriter(os.NewFile(uintptr(fd), "standard error"))
	c.stderr, c.flush = discreet{clean}, append(c.flush, clean)
	return nil
}

// watchCrash prepares for a crash, and says what the last server's printed, "" where it did not crash.
func (c *cli) watchCrash() (crashed string, err error) {
	file, last, err := c.project.OpenCrash()
	if err != nil {
		return "", err
	}
	defer file.Close() // standard error stays
	if err := c.catchCrash(file); err != nil {
		return "", err
	}
	if len(last) == 0 {
		return "", nil
	}
	fmt.Fprintf(c.stderr, "what the last server printed when it crashed:\n%s\n", last)
	first, _, _ := strings.Cut(strings.TrimSpace(string(last)), "\n")
	first = plaintext.Line(secret.Redact(first))
	if r := []rune(first); len(r) > 300 {
		first = string(r[:300]) + "…"
	}
	return fmt.Sprintf("the last server crashed, which is a bug in orchestrator: %s; the log has the rest: %s", first,
		c.project.LogFile()), nil
}
