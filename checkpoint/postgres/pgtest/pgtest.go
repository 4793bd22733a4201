// Package pgtest starts throw-away PostgreSQL servers for tests, from the server programs installed here.
//
// A server listens only on a unix socket in a temporary folder. The superuser is "tester" and needs no password; every
// other role does. If no server can be started the tests that need one are skipped, with a clear message.
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// patience is how long a server may take to answer; only a broken one takes that long.
const patience = 60 * time.Second

// Server is one PostgreSQL server. The zero value starts at first use; Close deletes it.
type Server struct {
	once      sync.Once
	missing   error // why there is none
	databases atomic.Int64

	bin, dir string
	cred     *syscall.Credential // it refuses to run as root
	cmd      *exec.Cmd
	ended    chan struct{} // closed when cmd has exited; nil while none runs
}

// URL returns the superuser's connection URL, or skips the test.
func (s *Server) URL(t testing.TB) string {
	t.Helper()
	s.once.Do(func() { s.missing = s.begin() })
	if s.missing != nil {
		t.Skipf("SKIPPED: PostgreSQL is not tested: %v. Install its server (postgres, initdb)", s.missing)
	}
	return s.Address("postgres", "tester", "")
}

// Database creates an empty database, whose name is a word with a number, and a role of the same name that owns it, and
// returns the role's connection URL; it skips the test if there is no server.
func (s *Server) Database(t testing.TB, word string) string {
	t.Helper()
	name := fmt.Sprint(word, s.databases.Add(1))
	s.Exec(t, fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD '%s'", name, Password(name)),
		fmt.Sprintf("CREATE DATABASE %s OWNER %s", name, name))
	return s.Address(name, name, Password(name))
}

// Password is the password of a role.
func Password(role string) string { return "hunter2." + role }

// Address is the URL of a database for a role; without a password for "".
func (s *Server) Address(database, role, password string) string {
	u := url.URL{
		Scheme: "postgres", User: url.User(role), Path: "/" + database, RawQuery: url.Values{"host": {s.dir}}.Encode(),
	}
	if password != "" {
		u.User = url.UserPassword(role, password)
	}
	return u.String()
}

// Exec runs statements as the superuser.
func (s *Server) Exec(t testing.TB, statements ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := pgx.Connect(ctx, s.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	for _, q := range statements {
		if _, err := c.Exec(ctx, q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// Kill stops the server: with SIGKILL like a power cut, except for the page cache; with SIGQUIT at once, in its own
// way. All its processes are gone when it returns.
func (s *Server) Kill(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := s.kill(signal); err != nil {
		t.Fatal(err)
	}
}

// Freeze stops all processes of the server without ending them, or has them go on.
func (s *Server) Freeze(t testing.TB, frozen bool) {
	t.Helper()
	signal := syscall.SIGCONT
	if frozen {
		signal = syscall.SIGSTOP
	}
	pids := []int{s.cmd.Process.Pid}
	children, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pids[0]))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range children {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range strings.Fields(string(b)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	for _, pid := range pids { // the first one first: it starts no more
		if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
}

// Start starts a killed server again, and waits until it answers.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
}

// Close stops the server and deletes its data. It is for TestMain or a cleanup.
func (s *Server) Close() error {
	if s.dir == "" {
		return nil
	}
	return errors.Join(s.kill(syscall.SIGQUIT), os.RemoveAll(s.dir))
}

// binaries finds the folder of the newest installed server.
func binaries() string {
	if p, err := exec.LookPath("postgres"); err == nil {
		if _, err := exec.LookPath("initdb"); err == nil {
			return filepath.Dir(p)
		}
	}
	var found []string
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin/initdb", "/usr/pgsql-*/bin/initdb",
		"/opt/homebrew/opt/postgresql*/bin/initdb"} {
		list, err := filepath.Glob(pattern)
		if err == nil {
			found = append(found, list...)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(slices.Max(found))
}

// begin creates the server's data and starts it.
func (s *Server) begin() error {
	if s.bin = binaries(); s.bin == "" {
		return errors.New("no initdb was found")
	}
	var err error
	if s.dir, err = os.MkdirTemp("", "pg"); err != nil { // short: sockets have short paths
		return err
	}
	if os.Geteuid() == 0 {
		if s.cred, err = unprivileged(); err != nil {
			return err
		}
		if err := os.Chown(s.dir, int(s.cred.Uid), int(s.cred.Gid)); err != nil {
			return err
		}
	}
	out, err := s.command("initdb", "-D", s.data(), "-U", "tester", "-A", "trust", "-N", "--locale=C", "-E",
		"UTF8").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	const who = "local all tester trust\nlocal replication tester trust\nlocal all all scram-sha-256\n"
	if err := os.WriteFile(filepath.Join(s.data(), "pg_hba.conf"), []byte(who), 0o600); err != nil {
		return err
	}
	return s.run()
}

// unprivileged returns the user that the server runs as if the tests run as root.
func unprivileged() (*syscall.Credential, error) {
	who, err := user.Lookup("postgres")
	if err != nil {
		if who, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err1 := strconv.ParseUint(who.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(who.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + s.bin + ":/usr/bin:/bin", "LC_ALL=C", "HOME=" + s.dir, "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.cred}
	return cmd
}

// run starts the server and waits until it answers. One that exits is started again: after a kill it refuses to start
// while the last of its old processes is still exiting.
func (s *Server) run() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		var said bytes.Buffer
		s.cmd = s.command("postgres", "-D", s.data(), "-k", s.dir, "-c", "listen_addresses=", "-c", "max_connections=100",
			"-c", "shared_buffers=32MB")
		s.cmd.Stderr = &said
		if err := s.cmd.Start(); err != nil {
			return err
		}
		s.ended = make(chan struct{})
		go func(cmd *exec.Cmd, ended chan struct{}) {
			cmd.Wait()
			close(ended)
		}(s.cmd, s.ended)
		if s.answers(ctx) {
			return nil
		}
		if ctx.Err() != nil {
			return errors.Join(fmt.Errorf("the server did not answer within %v", patience), s.kill(syscall.SIGQUIT),
				errors.New(said.String()))
		}
	}
}

// answers waits until the server answers, has exited or has taken too long.
func (s *Server) answers(ctx context.Context) bool {
	for {
		if c, err := pgx.Connect(ctx, s.Address("postgres", "tester", "")); err == nil {
			_ = c.Close(ctx)
			return true
		}
		select {
		case <-s.ended:
			return false
		case <-ctx.Done():
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// kill signals the postmaster and waits until all processes that share its standard error are gone: its children exit
// by themselves when they notice.
func (s *Server) kill(signal syscall.Signal) error {
	if s.ended == nil {
		return nil
	}
	if err := s.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill the server: %w", err)
	}
	<-s.ended
	s.ended = nil
	return nil
}
