package secret_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"orchestrator/thread/secret"
	"orchestrator/thread/secret/secrettest"
)

// TestCanaries finds every shape: alone, in a sentence, in JSON as it is written, beside others.
func TestCanaries(t *testing.T) {
	all := secrettest.All()
	if len(all) < 40 {
		t.Fatalf("%d canaries", len(all))
	}
	var together []string
	for _, c := range all {
		together = append(together, c.Text)
		raw, err := json.Marshal(map[string]string{"text": "first\n" + c.Text + "\nlast"})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{c.Text, "(" + c.Text + ")", "line\n\t" + c.Text + "\n\nand then go on", string(raw)} {
			got := secret.Redact(text)
			if c.In(got) || !strings.Contains(got, "[redacted ") {
				t.Errorf("%s: %q is left in %q", c.Name, text, got)
			}
			if again := secret.Redact(got); again != got {
				t.Errorf("%s: redacted twice: %q, once %q", c.Name, again, got)
			}
			masked := string(secret.Mask([]byte(text)))
			if len(masked) != len(text) || c.In(masked) {
				t.Errorf("%s: masked %q", c.Name, masked)
			}
		}
		for _, out := range [][]byte{secret.Bytes(raw), secret.Mask(raw)} {
			var back map[string]string
			if err := json.Unmarshal(out, &back); err != nil || !strings.HasPrefix(back["text"], "first\n") || !strings.HasSuffix(back["text"], "last") {
				t.Errorf("%s: JSON became %q, %v", c.Name, out, err)
			}
		}
	}
	got := secret.Redact(strings.Join(together[:len(together)-1], "\n"))
	for _, c := range all[:len(all)-1] {
		if c.In(got) {
			t.Errorf("%s is left among others", c.Name)
		}
	}
}

func TestHarmless(t *testing.T) {
	for _, s := range []string{
		"", "task-force-of-2024 risk-assessment-2024-10-11-final-version", "sk-loading-spinner-container-wrapper", "desk-ant-farm",
		"commit 3f786850e387550fdab836ed7e6dc881de23001b", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"550e8400-e29b-41d4-a716-446655440000", "postgres://app:$PASSWORD@db/app", "postgres://user:password@localhost/db", "http://host:8080/a@b",
		"ssh://git@github.com:22/x", "password: string", "token := newToken2Of16(x)", "export API_KEY=$OTHER_KEY", "api_key: \"YOUR_API_KEY\"", "secret = xxxxxxxxxxxxxxxxxxxxxxxx",
		"-----BEGIN CERTIFICATE-----", "a file with -----BEGIN RSA PRIVATE KEY----- in it", "Bearer of good news, arriving", "basic understanding of 1234 things", "AKIAIS short",
		"max:a1b2c3d4", "const apiKey = process.env.API_KEY_2", "tokens: 12345678901234567", "keyboard: qwertyuiopasdfgh",
	} {
		if got := secret.Redact(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
		if got := secret.Mask([]byte(s)); string(got) != s {
			t.Errorf("%q was masked to %q", s, got)
		}
	}
}

// TestFalseAlarms reads Go's own source: at most five finds in 10 MB beside the private keys that its examples
// hold.
func TestFalseAlarms(t *testing.T) {
	size, finds := 0, 0
	var took time.Duration
	for _, dir := range []string{"archive", "bytes", "compress", "crypto", "database", "encoding", "go", "html", "image", "internal", "math", "net", "os", "runtime", "testing"} {
		err := filepath.WalkDir(filepath.Join(runtime.GOROOT(), "src", dir), func(path string, d fs.DirEntry, err error) error { //nolint:staticcheck // the tests run where they are built
			if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(path, ".go") || size > 10<<20 {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			size += len(b)
			begun := time.Now()
			got := secret.Redact(string(b))
			took += time.Since(begun)
			if n := strings.Count(got, "[redacted ") - strings.Count(got, "[redacted private key]"); n > 0 {
				finds += n
				t.Logf("%s: %d", path, n)
			}
			return nil
		})
		if err != nil {
			t.Skipf("SKIPPED: Go's source is not here: %v", err)
		}
	}
	t.Logf("%d finds in %d bytes, %v", finds, size, took)
	if finds > 5 {
		t.Errorf("%d false alarms in %d bytes", finds, size)
	}
}

// TestHostileTextTakesLinearTime: what begins like a secret at every place costs no more for being long.
func TestHostileTextTakesLinearTime(t *testing.T) {
	for _, part := range []string{"sk-", "eyJ-", "eyJ.eyJ", "-----BEGIN PRIVATE KEY-----", "://a:", "http://a:b", "Bearer ", "password=", "A", "ghp_", "=", "-----BEGIN "} {
		measure := func(n int) time.Duration {
			s := strings.Repeat(part, n/len(part))
			best := time.Hour
			for range 5 {
				begun := time.Now()
				secret.Redact(s)
				best = min(best, time.Since(begun))
			}
			return best
		}
		small, large := measure(4<<10), measure(64<<10)
		t.Logf("%q: 4 KB in %v, 64 KB in %v", part, small, large)
		if large > 100*small && large > time.Second { // for 16 times the text; the square of it would be 256
			t.Errorf("%q: 4 KB in %v, 64 KB in %v", part, small, large)
		}
	}
}

func FuzzRedact(f *testing.F) {
	for _, c := range secrettest.All() {
		f.Add(c.Text)
	}
	for _, s := range []string{"", "-----BEGIN PRIVATE KEY-----", "://:@", "password=", "eyJ.eyJ.", "\\nsk-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := secret.Redact(s)
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Fatalf("%q became %q, which is no UTF-8", s, got)
		}
		masked := secret.Mask([]byte(s))
		if len(masked) != len(s) || (got == s) != (string(masked) == s) {
			t.Fatalf("%q: redacted %q, masked %q", s, got, masked)
		}
		if json.Valid([]byte(s)) && (!json.Valid(secret.Bytes([]byte(s))) || !json.Valid(masked)) {
			t.Fatalf("JSON %q became %q and %q", s, got, masked)
		}
	})
}
