// Package gittest runs git for tests as a person would, isolated from the machine's configuration.
package gittest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// T is the part of testing.T that Run needs.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Env is git's environment for a person with a home folder.
func Env(home string) []string {
	return []string{
		"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + filepath.Join(home, ".gitconfig"),
	}
}

// Run runs git in a folder, with env and no other git variables, and returns its output without the last newline. It
// fails the test if git fails. A commit starts no second git that looks whether there is something to collect.
func Run(t T, env []string, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir = dir
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}
