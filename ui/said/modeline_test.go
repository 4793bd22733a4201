package said

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// obeyed are lines that set something in vim.
var obeyed = []string{
	"vim: set tw=33 :", "// vim: tw=33", "/* vim: set tw=33: */", "# vi:tw=33", "text ex:tw=33", "Vim: set tw=33 :", "> vim: tw=33",
	"\tvim: set tw=33:", "x vim600: set tw=33:", "vim<900: set tw=33:", "vim>600: set tw=33:", "vim=900: set tw=33:", "a vim: vim: set tw=33:",
	"ex: vi: set tw=33:", "é vim: set tw=33:", "a\u00a0vim: vim: set tw=33:",
}

// TestUnobeyed: what would set an option does not, everything else is unchanged.
func TestUnobeyed(t *testing.T) {
	far := strings.Repeat("line\n", 2*modelineReach)
	for _, o := range obeyed {
		for _, text := range []string{o, o + "\n" + far, far + o, far + o + "\n\n\n", far + o + "\n" + far} {
			got := unobeyed(text)
			if middle := strings.HasPrefix(text, far) && strings.HasSuffix(text, far); middle != (got == text) {
				t.Errorf("%q near %d is %q", o, strings.Index(text, o), got[max(strings.Index(text, o)-3, 0):][:min(len(o)+6, len(got))])
			}
			if len(got) > len(text)+4 {
				t.Errorf("%q grew by %d", o, len(got)-len(text))
			}
		}
	}
	for _, same := range []string{"vim is an editor", "https://vim:8080/", "a vi mode", "index: 3", "the latex: paper", far} {
		if got := unobeyed(same); got != same {
			t.Errorf("%q became %q", same, got)
		}
	}
	for text, want := range map[string]string{
		"# a -*- eval: (x) -*-":             "# a - * - eval: (x) - * -",
		far + "Local Variables:\neval: (x)": far + "Local Variables :\neval: (x)",
		far + "# LOCAL variables:":          far + "# LOCAL variables :",
		"-*-*-*- mode: x -*-*-":             "- * - * - * - mode: x - * - * -",
		// Emacs looks at 3,000 characters, of up to four bytes.
		far + "Local Variables:\n" + strings.Repeat("😀", 2980): far + "Local Variables :\n" + strings.Repeat("😀", 2980),
	} {
		if got := unobeyed(text); got != want {
			t.Errorf("%q", got[max(len(got)-60, 0):])
		}
	}
}

// TestVimObeysNothing: vim itself sets nothing in a copy, and would have.
func TestVimObeysNothing(t *testing.T) {
	vim, err := exec.LookPath("vim")
	if err != nil {
		t.Skip("SKIPPED: there is no vim here; install it and run go test ./ui/said")
	}
	dir := t.TempDir()
	width := func(text string) string {
		file, out := filepath.Join(dir, "copy.md"), filepath.Join(dir, "out")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(out)
		cmd := exec.Command(vim, "-Nu", "NONE", "-i", "NONE", "-n", "-es", "--cmd", "set modeline", "--cmd", "set encoding=utf-8", file,
			"-c", "redir! > "+out, "-c", "set tw?", "-c", "redir END", "-c", "qa!")
		cmd.Env = append(os.Environ(), "HOME="+dir, "TERM=dumb")
		_ = cmd.Run() // its exit code counts errors in modelines, too
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(b))
	}
	set := 0
	for _, o := range obeyed {
		if width("one\n"+o+"\nthree\n") == "textwidth=33" {
			set++
		}
		for _, text := range []string{"one\n" + o + "\nthree\n", strings.Repeat("line\n", 300) + o + "\n"} {
			if got := width(unobeyed(text)); got != "textwidth=0" {
				t.Errorf("%q: %s", o, got)
			}
		}
	}
	if set < len(obeyed)*3/4 {
		t.Errorf("vim obeyed %d of %d lines as they were: the test shows nothing", set, len(obeyed))
	}
}
