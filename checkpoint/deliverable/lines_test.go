package deliverable_test

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// TestMain fixes the seed and the number of rapid's rounds unless the command line says otherwise.
func TestMain(m *testing.M) {
	set := map[string]string{"rapid.checks": "12", "rapid.seed": "20261130", "rapid.nofailfile": "true"}
	flag.Parse()
	flag.Visit(func(f *flag.Flag) { delete(set, f.Name) })
	for name, value := range set {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// TestLinesAreGits: whatever is done to the files of a repository, git itself counts the same lines: those that we call
// added and modified are its added ones, those deleted and modified its deleted ones; and no hunk has both of what is
// left of its lines.
func TestLinesAreGits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		top, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		p := newPlace(rt, top)
		text := rapid.Custom(func(t *rapid.T) string {
			words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "@@ -1 +1 @@", "diff --git a/x b/x", "", "Binary files x", "long " + strings.Repeat("y", 300)}), 0, 30).Draw(t, "lines")
			return strings.Join(words, "\n") + rapid.SampledFrom([]string{"", "\n", "\r\n"}).Draw(t, "end")
		})
		names := []string{"a.txt", "d/b.txt", "d/c d.txt", "\"q\".txt", "\u00fc.txt"}
		for _, name := range names {
			if rapid.Bool().Draw(rt, "before") {
				p.Write(name, text.Draw(rt, "text"))
			}
		}
		base := p.CommitAll("first")
		for _, name := range names {
			switch rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0:
				p.Remove(name)
			case 1, 2:
				p.Write(name, text.Draw(rt, "text"))
			}
		}
		got := p.ask(record.FileQuery{From: base})
		p.Git("add", "-A")
		want := map[string]string{}
		out := p.Git("diff", "--cached", "-M", "-z", "--numstat", base)
		for f := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"); len(f) > 0 && f[0] != ""; {
			part := strings.SplitN(f[0], "\t", 3)
			name := part[2]
			f = f[1:]
			if name == "" {
				name, f = f[1], f[2:]
			}
			want[name] = part[0] + " " + part[1]
		}
		for _, d := range got {
			if d.What != "" && d.What != work.FileDeleted {
				rt.Errorf("%q is %s", d.Path, d.What)
			}
			if n := strconv.Itoa(d.Added+d.Modified) + " " + strconv.Itoa(d.Deleted+d.Modified); n != want[d.Path] {
				rt.Errorf("%q: counted %s, git %s", d.Path, n, want[d.Path])
			}
			delete(want, d.Path)
		}
		if len(want) > 0 {
			rt.Errorf("not counted: %q", want)
		}
		for _, d := range got {
			if a, m, del := byHand(p, base, d); a != d.Added || m != d.Modified || del != d.Deleted {
				rt.Errorf("%q: %d added, %d modified, %d deleted; by hand %d, %d, %d", d.Path, d.Added, d.Modified, d.Deleted, a, m, del)
			}
		}
	})
}

// byHand counts the lines that git shows of one file: each unbroken run of lines that are removed and added is a hunk.
func byHand(p place, base string, d work.Deliverable) (added, modified, deleted int) {
	from := d.Path
	if d.From != "" {
		from = d.From
	}
	args := []string{"diff", "--cached", "-M", "-U99999", base, "--", ":(literal)" + d.Path}
	if from != d.Path {
		args = append(args, ":(literal)"+from)
	}
	plus, minus, body := 0, 0, false
	end := func() {
		both := min(plus, minus)
		added, modified, deleted = added+plus-both, modified+both, deleted+minus-both
		plus, minus = 0, 0
	}
	for _, line := range strings.Split(p.Git(args...), "\n") {
		switch {
		case !body:
			body = strings.HasPrefix(line, "@@")
		case strings.HasPrefix(line, "+"):
			plus++
		case strings.HasPrefix(line, "-"):
			minus++
		case strings.HasPrefix(line, "\\"):
		default:
			end()
		}
	}
	end()
	return added, modified, deleted
}

// FuzzNames: no path that somebody names leads out of the repository, or changes anything.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"a.txt", "../../etc/passwd", "/etc/passwd", ".git/HEAD", "./.GIT/x", "out/x", "a\nb", ":(glob)**", "-n", "--", ":/", strings.Repeat("../", 40)} {
		f.Add(s)
	}
	p := newPlace(f, f.TempDir())
	p.Write("a.txt", "1\n")
	base := p.CommitAll("first")
	p.Write("a.txt", "2\n")
	p.Link("out", p.Top)
	before := p.Visible()
	f.Fuzz(func(t *testing.T, name string) {
		here := *p.Repo
		here.T = t
		p := place{Repo: &here, files: p.files}
		for _, d := range p.ask(record.FileQuery{From: base, Paths: []string{name}}) {
			if d.Path != "a.txt" && (d.Added+d.Modified+d.Deleted > 0 || d.Blob != "" && d.Path != "out") {
				t.Errorf("%q: %s", name, fmt.Sprintf("%+v", d))
			}
		}
		if p.Visible() != before {
			t.Errorf("%q changed the repository", name)
		}
	})
}
