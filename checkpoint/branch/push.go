package branch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/ground/process"
	"orchestrator/thread/plaintext"
)

// Push pushes a branch to the remote of the person's configuration, under the same name and never by force, and returns
// the remote's name. It never prompts for a password: without an agent or helper it fails.
func (m *Merger) Push(ctx context.Context, dir, branch string) (string, error) {
	t, err := m.open(ctx, dir)
	if err != nil {
		return "", err
	}
	defer t.close()
	if err := t.connects(); err != nil {
		return "", err
	}
	if _, err := t.commit(ctx, branch); err != nil {
		return "", err
	}
	if err := git.CheckBranch(branch); err != nil {
		return "", err
	}
	remote, err := t.remote(ctx, branch)
	if err != nil {
		return "", err
	}
	if err := t.pushTo(ctx, remote, branch); err != nil {
		return "", fmt.Errorf("push %s to %s: %w", branch, remote, err)
	}
	return remote, nil
}

func (t tree) pushTo(ctx context.Context, remote, branch string) error {
	to, err := t.line(ctx, "remote", "get-url", "--push", "--all", "--", remote)
	if err != nil {
		return err
	}
	env := []string{"GIT_ALLOW_PROTOCOL=" + t.own.Protocols()}
	if err := t.pushLarge(ctx, remote, branch, env); err != nil {
		return err
	}
	args := []string{"push", "--porcelain", "--no-verify", "--recurse-submodules=no"}
	addresses := strings.Split(to, "\n")
	switch {
	case !slices.ContainsFunc(addresses, isFolder):
	case len(addresses) > 1:
		return thread.Hint(fmt.Errorf("the remote has several URLs, and one is a folder: %w", thread.ErrUnsupported),
			"create a remote for each, and choose one with git config remote.pushDefault NAME")
	default:
		program, err := t.receivePack(ctx, addresses[0])
		if err != nil {
			return err
		}
		args = append(args, "--receive-pack="+program)
	}
	ref := "refs/heads/" + branch
	_, err = t.run(ctx, git.Call{Args: append(args, "--", remote, ref+":"+ref), Env: env})
	return err
}

// isFolder reports whether an address is a path on this machine, by git's rules.
func isFolder(address string) bool {
	colon, slash := strings.IndexByte(address, ':'), strings.IndexByte(address, '/')
	return strings.HasPrefix(strings.ToLower(address), "file:") || colon < 0 || (slash >= 0 && slash < colon)
}

// receivePack is the command that receives a push to a folder on this machine without running programs of that
// repository: it may be inside this one, or whatever its configuration was changed to name. Its configuration is frozen
// like ours.
func (t tree) receivePack(ctx context.Context, address string) (string, error) {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	program := "GIT_ALLOW_PROTOCOL=none " + quote(t.git.Path()) +
		" -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.alternateRefsCommand=true" +
		" -c receive.autoGC=false -c receive.denyCurrentBranch=refuse receive-pack"
	there, err := git.FindReceiver(t.Root, address)
	if errors.Is(err, thread.ErrNoRepository) {
		return program, nil // git reports it best
	}
	if err != nil {
		return "", err
	}
	own, err := t.git.ReadOwn(ctx, there)
	if err != nil {
		return "", err
	}
	view := filepath.Join(t.view.dir, "remote")
	if err := os.Mkdir(view, 0o700); err != nil {
		return "", err
	}
	if _, err := own.Freeze(view, false); err != nil {
		return "", err
	}
	return "GIT_COMMON_DIR=" + quote(view) + " " + program, nil
}

// pushLarge uploads the large files of a branch, as git-lfs itself does in a hook.
func (t tree) pushLarge(ctx context.Context, remote, branch string, env []string) error {
	if !t.own.LFS() {
		return nil
	}
	storage, err := largeStorage(t.Common, func(c git.Call) ([]byte, error) { return t.run(ctx, c) })
	if err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(storage, "objects")); err != nil {
		return nil
	}
	_, err = t.run(ctx, git.Call{Args: []string{"lfs", "push", "--", remote, branch}, Env: env})
	return err
}

// remote picks the remote as git would: the branch's, the default one, the only one.
func (t tree) remote(ctx context.Context, branch string) (string, error) {
	out, err := t.line(ctx, "remote")
	if err != nil {
		return "", err
	}
	all := strings.Fields(out)
	for _, key := range []string{
		"branch." + branch + ".pushRemote", "remote.pushDefault", "branch." + branch + ".remote",
	} {
		out, err := t.run(ctx, git.Call{Args: []string{"config", "--get", "--end-of-options", key}, OK: []int{1}})
		if err != nil {
			return "", err
		}
		if name := strings.TrimSpace(string(out)); slices.Contains(all, name) {
			return name, nil
		}
	}
	switch {
	case slices.Contains(all, "origin"):
		return "origin", nil
	case len(all) == 1 && !strings.HasPrefix(all[0], "-"):
		return all[0], nil
	case len(all) == 0:
		return "", thread.Hint(thread.Kindf(thread.ErrNotFound, "no git remote"), "add one: git remote add origin URL")
	}
	return "", thread.Hint(thread.Kindf(thread.ErrRefused, "the repository has several remotes and no default"),
		"choose one with git config remote.pushDefault NAME")
}

// OpenPR opens a pull request for a pushed branch with the gh program, if it is installed and logged in, and returns
// the address. base is the branch to merge into, "" for the repository's default.
func (m *Merger) OpenPR(ctx context.Context, dir, branch, base, title, body string) (string, error) {
	t, err := m.open(ctx, dir)
	if err != nil {
		return "", fmt.Errorf("open pull request: %w", err)
	}
	defer t.close()
	if err := t.connects(); err != nil {
		return "", fmt.Errorf("open pull request: %w", err)
	}
	if err := git.CheckBranch(branch); err != nil {
		return "", fmt.Errorf("open pull request: %w", err)
	}
	args := []string{"pr", "create", "--head=" + branch, "--title=" + plaintext.Line(strings.TrimSpace(title)), "--body-file=-"}
	if base != "" {
		if err := git.CheckBranch(base); err != nil {
			return "", fmt.Errorf("open pull request: %w", err)
		}
		args = append(args, "--base="+base)
	}
	path, err := exec.LookPath("gh")
	if err != nil {
		return "", thread.Hint(fmt.Errorf("open pull request: gh is not installed: %w", thread.ErrUnsupported),
			"install it from https://cli.github.com, or open the pull request in the browser")
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = t.Root
	cmd.Env = append(append(m.git.Env(), t.frozen...), "GH_PROMPT_DISABLED=1", "NO_COLOR=1", "GH_NO_UPDATE_NOTIFIER=1")
	cmd.Stdin = strings.NewReader(plaintext.Text(body)) // what is published shows all that is in it
	process.Group(cmd, 2*time.Second)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		said := git.Printable(git.Redact(strings.Join(strings.Fields(errs.String()), " ")))
		return "", fmt.Errorf("open pull request: gh pr create: %w: %.600s", err, said)
	}
	for line := range strings.Lines(out.String()) {
		if u, err := url.Parse(strings.TrimSpace(line)); err == nil && u.Scheme == "https" && u.Host != "" {
			return u.String(), nil
		}
	}
	return "", fmt.Errorf("open pull request: gh pr create printed no URL")
}
