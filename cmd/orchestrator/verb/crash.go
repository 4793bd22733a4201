package verb

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// The runtime itself prints a panic that no goroutine of the server recovers. That bypasses our sanitising writer and
// may quote anything. So the server makes the runtime print to a separate file, which nobody reads raw: the next server
// copies it to its log, sanitised, and reports it.

// catchCrash redirects what the runtime prints to a file, and keeps our own output going to the original standard
// error.
func (c *cli) catchCrash(to *os.File) error {
	fd, err := unix.FcntlInt(uintptr(unix.Stderr), unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		err = unix.Dup2(int(to.Fd()), unix.Stderr)
	}
	if err != nil {
		return fmt.Errorf("redirect crash output: %w", err)
	}
	clean := plaintext.NewWriter(os.NewFile(uintptr(fd), "standard error"))
	c.out.stderr, c.out.flush = redacting{clean}, append(c.out.flush, clean)
	return nil
}

// watchCrash prepares for a crash, and returns what the last server printed if it crashed.
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
	fmt.Fprintf(c.out.stderr, "crash output of the last server:\n%s\n", last)
	first, _, _ := strings.Cut(strings.TrimSpace(string(last)), "\n")
	first = plaintext.Short(plaintext.Line(secret.Redact(first)), 300)
	return fmt.Sprintf("the last server crashed, which is a bug in orchestrator: %s; for details see %s", first,
		c.project.LogFile()), nil
}
