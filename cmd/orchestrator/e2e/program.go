package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"

	"orchestrator/thread/failpoint"
)

// Set by TestMain.
var (
	Root    string // the folder of this module
	Program string // the built program
)

// BuildFlags are what the test program itself was built with, for the program under test.
func BuildFlags() (flags []string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "-race" && s.Value == "true":
			flags = append(flags, "-race")
		case s.Key == "-tags":
			flags = append(flags, "-tags", s.Value)
		}
	}
	return flags
}

// Build builds the program. Its version is not told: git refuses to tell it in a checkout that another user owns.
func Build(path string, flags ...string) error {
	cmd := exec.Command("go", append(append([]string{"build", "-buildvcs=false"}, flags...), "-o", path, "./cmd/orchestrator")...)
	cmd.Dir = Root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// openSources opens the folders of the code once, so that a change of the program is a change of what the test has seen:
// go test takes results from its cache otherwise, for it knows what tests open, once they run, and not what a build reads.
var openSources = sync.OnceValue(func() error {
	return filepath.WalkDir(Root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != Root {
			return filepath.SkipDir
		}
		return err
	})
})

// killable are the flags of a program that tests kill at failpoints. Linking it without what only debuggers read is
// quicker.
func killable() []string { return []string{"-ldflags=-w " + failpoint.Linker} }

// buildOnce builds the program once for all packages of tests: each of them, and each later run, finds it in a folder
// of this user, and go builds it again when the code has changed.
func buildOnce() (path string, err error) {
	gomod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	Root = filepath.Dir(strings.TrimSpace(string(gomod)))
	room := filepath.Join(os.TempDir(), fmt.Sprintf("orchestrator-test-%d", os.Getuid()))
	if err := os.Mkdir(room, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(room)
	if err != nil {
		return "", err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || int(stat.Uid) != os.Getuid() || info.Mode().Perm() != 0o700 {
		return "", fmt.Errorf("%s: it is no folder for you alone. Remove it", room)
	}
	flags := append(BuildFlags(), killable()...)
	id := sha256.Sum256([]byte(Root + "\x00" + strings.Join(flags, "\x00")))
	dir := filepath.Join(room, hex.EncodeToString(id[:8]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("wait for another build: %w", err)
	}
	path = filepath.Join(dir, "orchestrator")
	return path, Build(path, flags...)
}
