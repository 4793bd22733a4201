package verb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
)

func historyTrace(c *cli) *cobra.Command {
	var q record.TraceRequest
	cmd := &cobra.Command{
		Use: "trace <name>", Short: "Show on one page what an execution, an output, a file or a bundle belongs to, and what is wrong",
		Long: "Show the chain that something is a part of: work session, task, bundle and its pieces, execution, outputs, checks.\n" +
			"<name> is an execution (exec-003), the number of an output (42), a file of the project that came of an execution, or\n" +
			"a bundle (bundle-001). What is wrong comes first, marked with ! and with the next command; - marks what may be\n" +
			"right. Files that were given are compared with what they are now.",
		Example: "orchestrator history trace exec-003", Args: exactly("<name>"),
		ValidArgsFunction: completeExecutions(c, 1),
	}
	cmd.Flags().BoolVar(&q.Full, "full", false, "all of what was asked and said, not only the beginning")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		q.Ref = inProject(args[0], c.project.Root)
		t, err := api.HistoryTrace.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		compareFiles(&t, c.project.Root)
		names, err := threadNames(ctx, cl, t.More)
		if err != nil {
			return err
		}
		return c.out.show(t, func(w io.Writer) { page.Trace(w, t, names, time.Now()) })
	})
	return cmd
}

// largestCompared is the largest file that is compared with what was given of it.
const largestCompared = 64 << 20

// compareFiles compares what an execution was given with the files of the project as they are now. It reads through no
// link that leads out of the project.
func compareFiles(t *record.Trace, root string) {
	in, err := os.OpenRoot(root)
	if err != nil {
		return // then nothing is said of them
	}
	defer in.Close()
	record.Compare(t, func(path string) (string, error) {
		path = filepath.FromSlash(path)
		if filepath.IsAbs(path) {
			rel, err := filepath.Rel(root, path)
			if err != nil || !filepath.IsLocal(rel) {
				return "", errors.New("not in the project")
			}
			path = rel
		}
		return hashOf(in, path)
	})
}

// hashOf returns the SHA-256 of a regular file in hex, "" if it is not there.
func hashOf(in *os.Root, path string) (string, error) {
	info, err := in.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case !info.Mode().IsRegular() || info.Size() > largestCompared:
		return "", errors.New("no file to compare")
	}
	f, err := in.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, largestCompared)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// inProject returns the path of a file as outputs have it, relative to the project's root; a file that is there may be named
// from where the person is. What is none is returned as it is.
func inProject(path, root string) string {
	if path == "" {
		return ""
	}
	if _, err := os.Lstat(path); err != nil && !filepath.IsAbs(path) {
		return filepath.ToSlash(path)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return filepath.ToSlash(path)
	}
	if rel, err := filepath.Rel(root, abs); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}
