package postgres_test

import (
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
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// server is a throw-away PostgreSQL, on a unix socket alone.
type server struct {
	bin, dir string
	cred     *syscall.Credential // it refuses to run as root
	cmd      *exec.Cmd
	missing  string // why there is none
}

// the is the one server of the test run; TestMain ends it.
var the server

func TestMain(m *testing.M) {
	the = start()
	code := m.Run()
	the.stop()
	if the.dir != "" {
		os.RemoveAll(the.dir)
	}
	os.Exit(code)
}

// url returns where to connect, or skips the test loudly.
func (s *server) url(t testing.TB) string {
	t.Helper()
	if u := os.Getenv("POSTGRES_URL"); u != "" {
		return u
	}
	if s.missing != "" {
		t.Skipf("SKIPPED: the store on PostgreSQL is not tested: %s. Install PostgreSQL's server (postgres, initdb), or name one: POSTGRES_URL=postgres://… go test ./checkpoint/postgres", s.missing)
	}
	return s.address()
}

func (s *server) address() string {
	return "postgres:///postgres?" + url.Values{"host": {s.dir}, "user": {"tester"}}.Encode()
}

// binaries finds the folder of the newest installed server.
func binaries() string {
	if p, err := exec.LookPath("postgres"); err == nil {
		if _, err := exec.LookPath("initdb"); err == nil {
			return filepath.Dir(p)
		}
	}
	var found []string
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin/initdb", "/usr/pgsql-*/bin/initdb", "/opt/homebrew/opt/postgresql*/bin/initdb"} {
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

func start() server {
	s := server{bin: binaries()}
	if os.Getenv("POSTGRES_URL") != "" {
		return s
	}
	if s.bin == "" {
		s.missing = "no initdb was found"
		return s
	}
	if err := s.init(); err != nil {
		s.missing = err.Error()
	}
	return s
}

func (s *server) init() error {
	var err error
	if s.dir, err = os.MkdirTemp("", "pg"); err != nil {
		return err
	}
	if os.Geteuid() == 0 {
		who, err := user.Lookup("postgres")
		if err != nil {
			if who, err = user.Lookup("nobody"); err != nil {
				return err
			}
		}
		uid, err1 := strconv.Atoi(who.Uid)
		gid, err2 := strconv.Atoi(who.Gid)
		if err := errors.Join(err1, err2, os.Chown(s.dir, uid, gid)); err != nil {
			return err
		}
		s.cred = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	data := filepath.Join(s.dir, "data")
	out, err := s.command("initdb", "-D", data, "-U", "tester", "-A", "trust", "-N", "--locale=C", "-E", "UTF8").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return s.run()
}

func (s *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + s.bin + ":/usr/bin:/bin", "LC_ALL=C", "HOME=" + s.dir, "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.cred}
	return cmd
}

// run starts the server and waits until it answers.
func (s *server) run() error {
	s.cmd = s.command("postgres", "-D", filepath.Join(s.dir, "data"), "-k", s.dir, "-c", "listen_addresses=", "-c", "max_connections=100",
		"-c", "shared_buffers=32MB", "-c", "log_min_messages=panic")
	if err := s.cmd.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	for {
		c, err := pgx.Connect(ctx, s.address())
		if err == nil {
			return c.Close(ctx)
		}
		if ctx.Err() != nil {
			s.stop()
			return fmt.Errorf("the server does not answer: %w", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// stop ends the server at once; its data is thrown away.
func (s *server) stop() {
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Signal(syscall.SIGQUIT)
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}
